"""Runs ``pi`` as ``python -P -m pi_cli``, for environments whose scripts are not on the path.

Without ``-P`` Python looks for modules in the current folder first, and would run code of an untrusted project there.
"""

from __future__ import annotations

import sys

from pi_cli import main

if __name__ == "__main__":
    sys.exit(main())

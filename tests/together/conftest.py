"""Any plugins together: sessions with the entries of all of them, and everything that reads a session."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

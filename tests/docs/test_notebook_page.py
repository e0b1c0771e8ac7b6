"""docs/notebooks.md is what docs/notebooks.ipynb shows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_the_page_is_what_the_script_writes() -> None:
    script = Path(__file__).parents[2] / "tools" / "build_notebook_page.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)

    assert (done.stdout, done.returncode) == ("", 0), done.stderr

"""docs/reference/misbehaviour.md is made from the table of plugins that misbehave, which the journeys run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_is_what_the_script_writes() -> None:
    script = ROOT / "tools" / "build_misbehaviour_page.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)

    assert (done.stdout, done.returncode) == ("", 0), done.stderr

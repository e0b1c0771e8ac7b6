"""docs/cli.md and docs/commands.md are what pi prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info >= (3, 13), reason="argparse has worded options differently since Python 3.13")
def test_the_pages_of_the_commands_are_up_to_date() -> None:
    subprocess.run([sys.executable, "tools/build_command_pages.py", "--check"], cwd=ROOT, check=True)

"""examples/README.md has every example, as tools/build_examples_page.py writes it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_of_the_examples_is_up_to_date() -> None:
    subprocess.run([sys.executable, "tools/build_examples_page.py", "--check"], cwd=ROOT, check=True)

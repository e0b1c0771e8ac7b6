"""The recordings of the documentation can be made again."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")
def test_the_work_of_two_agents_is_applied_rewound_and_brought_back(tmp_path: Path) -> None:
    recording = tmp_path / "agents.txt"
    subprocess.run([sys.executable, ROOT / "tools" / "record_agents.py", recording], check=True)

    files = re.findall(r"^--- files of the work tree: (.*)$", recording.read_text(encoding="utf-8"), re.MULTILINE)
    none, both = "README.md", "README.md bay.txt port.txt"
    assert files == [none, none, both, both, none, both]

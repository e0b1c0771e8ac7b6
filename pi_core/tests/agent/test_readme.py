"""The README of the agent: its program runs unchanged, and it names files that exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import attrs

import pi_core.agent
from pi_core import LoopCallbacks
from pi_testing import for_each

FOLDER = Path(pi_core.agent.__file__).parent
PAGE = (FOLDER / "README.md").read_text(encoding="utf-8")


def test_the_program_prints_two_turns_and_the_answer(tmp_path):
    (program,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)

    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    lines = done.stdout.splitlines()
    assert done.stderr == ""
    assert lines[0] == "agent_start"
    assert lines[-2:] == ["agent_end", "It is noon in Ulm."]
    assert lines.count("turn_start") == lines.count("turn_end") == 2
    assert lines.count("tool_execution_end") == 1


@for_each("name", sorted(set(re.findall(r"(?<!/)\b\w+\.py\b", PAGE))))
def test_a_file_that_the_page_names_exists(name):
    assert (FOLDER / name).is_file()


def test_the_page_names_every_module():
    modules = {file.name for file in FOLDER.glob("*.py")} - {"__init__.py"}

    assert modules == set(re.findall(r"(?<!/)\b\w+\.py\b", PAGE.partition("## What each file does")[2]))


def test_the_callbacks_that_the_page_explains_are_those_of_the_loop():
    (table,) = re.findall(r"^\| callback \|(.*?)\n\n", PAGE, re.DOTALL | re.MULTILINE)
    names = set(re.findall(r"`([a-z_]+)`", table))

    assert len(names) == 10
    assert names <= set(attrs.fields_dict(LoopCallbacks))

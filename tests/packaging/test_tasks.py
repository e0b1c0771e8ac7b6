"""The task list runs what is there, and finds a member by its name."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "tools" / "list_members.py"


def list_members(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, LIST, *arguments], capture_output=True, encoding="utf-8", check=False)


def test_the_list_has_a_line_for_every_member() -> None:
    globs = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]["workspace"]["members"]
    names = {file.parent.name for glob in globs for file in ROOT.glob(f"{glob}/pyproject.toml")}

    listed = set(re.findall(r"^  (\S+)  ", list_members().stdout, re.MULTILINE))
    assert listed == names


@pytest.mark.parametrize("name", ["retry", "pluggypi-retry"])
def test_a_member_is_found_by_folder_and_by_distribution(name: str) -> None:
    folder = ROOT / list_members(name).stdout.strip()

    assert (folder / "src" / "pi_retry").is_dir()


def test_an_unknown_member_is_answered_with_a_similar_one() -> None:
    done = list_members("retri")

    assert done.returncode == 1
    assert done.stderr == "No member of the workspace is called 'retri'; did you mean 'retry'?\n"


def test_the_tasks_of_the_pages_exist() -> None:
    tasks = set(re.findall(r"^([a-z]+)[^:\n]*:(?!=)", (ROOT / "justfile").read_text(), re.MULTILINE))
    pages = "".join((ROOT / page).read_text() for page in ("CONTRIBUTING.md", "AGENTS.md", "CHANGELOG.md"))
    named = set(re.findall(r"(?:`|dev |-sync )just ([a-z]+)", pages))

    assert {"check", "test", "bench", "docs", "groups", "changelog"} <= tasks
    assert named <= tasks


def test_the_task_list_is_valid() -> None:
    just = Path(sys.executable).with_name("just")

    done = subprocess.run([just, "--justfile", ROOT / "justfile", "--list"], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr

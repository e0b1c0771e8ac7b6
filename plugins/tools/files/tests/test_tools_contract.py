"""The contract that holds for every tool, over the seven."""

from __future__ import annotations

import pytest

import pi_tools
from pi_testing import ToolContract, arguments

pytestmark = pytest.mark.pi(plugins={"tools": pi_tools})


class Notes(ToolContract):
    """The tools work on a file of three lines."""

    def prepare(self, folder):
        (folder / "notes.txt").write_text("one\ntwo\nthree\n")


class TestRead(Notes):
    tool = "read"
    works = arguments(path="notes.txt")
    fails = arguments(path="missing.txt")


class TestWrite(Notes):
    tool = "write"
    works = arguments(path="new/file.txt", content="text")
    fails = arguments(path="notes.txt/file.txt", content="text")


class TestEdit(Notes):
    tool = "edit"
    works = arguments(path="notes.txt", edits=[{"oldText": "two", "newText": "2"}])
    fails = arguments(path="notes.txt", edits=[{"oldText": "four", "newText": "4"}])


class TestBash(Notes):
    tool = "bash"
    works = arguments(command="cat notes.txt")
    fails = arguments(command="exit 3")
    takes_long = arguments(command="sleep 60")


class TestGrep(Notes):
    tool = "grep"
    works = arguments(pattern="t[wh]")
    fails = arguments(pattern="[")


class TestFind(Notes):
    tool = "find"
    works = arguments(pattern="*.txt")
    fails = arguments(pattern="*.txt", path="missing")


class TestLs(Notes):
    tool = "ls"
    works = arguments(path=".")
    fails = arguments(path="missing")

"""Lines have numbers, guards are asked about both reads, and the deferred tool is offered after its command."""

from __future__ import annotations

import pytest

from pi_hookspecs import hookimpl
from pi_testing import ToolContract, arguments, text, tool_call


class Guard:
    def __init__(self):
        self.seen = []

    @hookimpl
    def tool_call(self, event):
        self.seen.append((event.tool_name, event.tool.plugin, event.tool.annotations.read_only))


@pytest.fixture
def guard():
    return Guard()


@pytest.fixture
def pi_plugins(pi_plugins, guard):
    return pi_plugins | {"guard": guard}


@pytest.mark.pi(entry_points=["tools"])
async def test_lines_are_numbered(pi_session, script, tmp_path, guard):
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    script.turn(tool_call("read", path="a.txt", offset=2)).turn(text("Two, three."))

    await pi_session.prompt("Read it")

    (result,) = script.requests[1].tool_results
    assert result.text.splitlines()[:2] == ["     2  two", "     3  three"]
    assert guard.seen == [("read", "numbered-read", True), ("read", "tools", True)]


@pytest.mark.pi(entry_points=["tools"])
async def test_a_missing_file_is_the_error_of_the_other_tool(pi_session, script):
    script.turn(tool_call("read", path="b.txt")).turn(text("It is not there."))

    await pi_session.prompt("Read it")

    (result,) = script.requests[1].tool_results
    assert result.is_error
    assert "b.txt" in result.text


@pytest.mark.pi(entry_points=["tools"])
async def test_the_deferred_tool_is_offered_after_its_command(pi_session, script, tmp_path):
    (tmp_path / "a.txt").write_text("one")
    (tmp_path / "b.txt").write_text("two")
    script.turn(text("Hello.")).turn(tool_call("read_all", paths=["a.txt", "b.txt"])).turn(text("One, two."))
    await pi_session.prompt("Hi")

    await pi_session.prompt("/read-all")
    await pi_session.prompt("Read both")

    assert "read_all" not in script.requests[0].tools
    assert "read_all" in script.requests[1].tools
    assert script.requests[2].tool_results[0].text == "a.txt:\n     1  one\n\nb.txt:\n     1  two"


@pytest.mark.pi(entry_points=["tools"])
class TestRead(ToolContract):
    tool = "read"
    works = arguments(path="a.txt")
    fails = arguments(path="b.txt")

    def prepare(self, folder):
        (folder / "a.txt").write_text("one\ntwo\n")

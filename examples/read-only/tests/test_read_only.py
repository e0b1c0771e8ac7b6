"""What reads works, what writes is refused with a reason for the model."""

from __future__ import annotations

import pytest

from pi_testing import text, tool_call

pytestmark = pytest.mark.pi(entry_points=["tools"])

WRITES = [
    tool_call("write", path="new/b.txt", content="two"),
    tool_call("write", path="a.txt", content="two"),
    tool_call("edit", path="a.txt", edits=[{"oldText": "one", "newText": "two"}]),
]


@pytest.mark.parametrize("call", WRITES)
async def test_nothing_is_written(pi_session, script, tmp_path, call):
    (tmp_path / "a.txt").write_text("one")
    script.turn(call).turn(text("I may not."))

    await pi_session.prompt("Change it")

    (result,) = script.requests[1].tool_results
    assert result.is_error
    assert "the workspace is read-only" in result.text
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "one"


async def test_reading_works(pi_session, script, tmp_path):
    (tmp_path / "a.txt").write_text("one")
    script.turn(tool_call("read", path="a.txt"), tool_call("bash", command="cat a.txt")).turn(text("One."))

    await pi_session.prompt("Read it")

    assert [result.text.strip() for result in script.requests[1].tool_results] == ["one", "one"]

"""All seven tools, and the user's own commands, work in memory."""

from __future__ import annotations

import pytest

from pi_testing import text, tool_call

TOOLS = ["read", "bash", "edit", "write", "grep", "find", "ls"]

pytestmark = pytest.mark.pi(entry_points=["tools"], tools=TOOLS)


async def test_all_seven_tools_work_in_memory(pi_session, script, tmp_path):
    script.turn(tool_call("write", path="src/a.py", content="one\ntwo\n"))
    script.turn(tool_call("edit", path="src/a.py", edits=[{"oldText": "two", "newText": "2"}]))
    script.turn(
        tool_call("read", path="src/a.py"),
        tool_call("grep", pattern="n"),
        tool_call("find", pattern="*.py"),
        tool_call("ls"),
        tool_call("bash", command="make"),
    )
    script.turn(text("Done."))

    await pi_session.prompt("go")

    written, *_ = script.requests[1].tool_results
    assert written.text == "Successfully wrote 8 bytes to src/a.py"
    assert [each.text for each in script.requests[3].tool_results[-5:]] == [
        "one\n2\n",
        "src/a.py:1: one",
        "src/a.py",
        "src/",
        "memory has no shell for: make\n\n\nCommand exited with code 127",
    ]
    assert [*tmp_path.iterdir()] == []


async def test_a_file_of_this_machine_is_not_read(pi_session, script, tmp_path):
    (tmp_path / "secret.txt").write_text("on the disk")
    script.turn(tool_call("read", path="secret.txt")).turn(text("Done."))

    await pi_session.prompt("go")

    [refused] = script.requests[1].tool_results
    assert refused.text == f"ENOENT: no such file or directory, access '{tmp_path}/secret.txt'"


async def test_a_command_of_the_user_is_redirected_too(pi_session):
    result = await pi_session.execute_bash("ls")

    assert (result.output, result.exit_code) == ("memory has no shell for: ls\n", 127)

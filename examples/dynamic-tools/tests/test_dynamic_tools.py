"""Tools that come while the session runs are offered, and called."""

from __future__ import annotations

from pi_testing import text, tool_call


async def test_a_tool_that_came_at_the_start_is_called(pi_session, script):
    script.turn(tool_call("echo", text="hello")).turn(text("Done."))

    await pi_session.prompt("go")

    assert "echo" in script.requests[0].tools
    assert script.requests[1].tool_results[0].text == "hello"


async def test_a_tool_that_a_command_added_is_called(pi_session, script):
    script.turn(text("Fine.")).turn(tool_call("shout", text="you")).turn(text("Done."))
    await pi_session.prompt("hi")

    await pi_session.prompt("/add-echo-tool shout HEY ")
    await pi_session.prompt("go")

    assert ["shout" in request.tools for request in script.requests] == [False, True, True]
    assert script.requests[2].tool_results[0].text == "HEYyou"


async def test_names_that_cannot_be_or_are_taken_are_refused(pi_session, fake_ui):
    await pi_session.prompt("/add-echo-tool a-b")
    await pi_session.prompt("/add-echo-tool bash")

    assert [notice.message for notice in fake_ui.notices] == [
        "'a-b' is not a name for a tool; use letters, digits and _.",
        "There is a tool 'bash' already.",
    ]

"""The example that a newcomer reads first: it does what its README says."""

from __future__ import annotations

from pi_testing import text, tool_call


async def test_reason_of_a_refusal_reaches_the_model(pi_session, script, fake_tools):
    script.turn(tool_call("bash", command="rm -rf build")).turn(text("I will not."))

    await pi_session.prompt("clean up")

    (result,) = script.requests[1].tool_results
    assert result.is_error
    assert result.text == "Deleting trees is not allowed here; move them to ./trash instead."
    assert fake_tools["bash"].calls == []


async def test_other_commands_and_other_tools_pass(pi_session, script, fake_tools):
    script.turn(tool_call("bash", command="ls"), tool_call("read", path="rm -rf")).turn(text("Done."))

    await pi_session.prompt("look around")

    assert [fake_tools[name].calls for name in ("bash", "read")] == [[{"command": "ls"}], [{"path": "rm -rf"}]]

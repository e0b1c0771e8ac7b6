"""A guard that refuses commands which delete directory trees, and tells the model what to do instead."""

from pi_hookspecs import ToolCallResult, hookimpl


@hookimpl
def tool_call(event):
    if event.tool_name == "bash" and "rm -rf" in event.input["command"]:
        return ToolCallResult(block=True, reason="Deleting trees is not allowed here; move them to ./trash instead.")
    return None


# Test

from pi_testing import steps


async def test_example(pi_session, script, fake_tools):
    script.turn(steps.tool_call("bash", command="rm -rf build")).turn(steps.text("I will not."))

    await pi_session.prompt("Clean up")

    assert "move them to ./trash" in script.requests[1].tool_results[0].text
    assert fake_tools["bash"].calls == []

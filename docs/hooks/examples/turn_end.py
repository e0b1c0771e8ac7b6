"""Tells the model to restore a protected file that it deleted."""

from pi_hookspecs import NewEntry, TurnEndResult, hookimpl


@hookimpl
def turn_end(event, ctx):
    if event.tool_results and not (ctx.cwd / "LICENSE").exists():
        note = NewEntry(custom_type="guard", content="LICENSE is gone. Restore it before you continue.")
        return TurnEndResult(entries=[note])
    return None


# Test

from pi_testing import text, tool_call


async def test_example(pi_session, script):
    script.turn(tool_call("bash", command="rm LICENSE")).turn(text("I will restore it."))

    await pi_session.prompt("Tidy up")

    assert "LICENSE is gone" in script.requests[1].messages[-1].text

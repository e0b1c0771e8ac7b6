"""Notifies the user of failed tool calls."""

from pi_hookspecs import hookimpl


@hookimpl
def tool_execution_end(event, ctx):
    if event.is_error:
        ctx.ui.notify(f"{event.tool_name} failed", "warning")


# Test

from pi_testing import text, tool_call


async def test_example(pi_session, script, fake_ui):
    script.turn(tool_call("no_such_tool")).turn(text("There is none."))

    await pi_session.prompt("Use it")

    assert fake_ui.notices[-1].message == "no_such_tool failed"

"""Shows the last line of a running tool's output."""

from pi_hookspecs import hookimpl, text_of, tool


@hookimpl
def tool_execution_update(event, ctx):
    lines = text_of(event.partial_result.content).splitlines()
    ctx.ui.set_status("tool", lines[-1] if lines else "")


@tool
async def build(ctx) -> str:
    """Build the project."""
    ctx.update("compiling\nlinking")
    return "built"


@hookimpl
def register_tools():
    return [build]


# Test

from pi_testing import text, tool_call


async def test_example(pi_session, script, fake_ui):
    script.turn(tool_call("build")).turn(text("Done."))

    await pi_session.prompt("Build it")

    assert fake_ui.statuses == {"tool": "linking"}

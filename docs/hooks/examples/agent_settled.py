"""Sets the window title when the prompt is done."""

from pi_hookspecs import hookimpl


@hookimpl
def agent_settled(event, ctx):
    ctx.ui.set_title("stopped" if event.aborted else "ready")


# Test

from pi_testing import text


async def test_example(pi_session, script, fake_ui):
    script.turn(text("Hello."))

    await pi_session.prompt("Hi")

    assert fake_ui.title == "ready"

"""Shows that the agent is working."""

from pi_hookspecs import hookimpl


@hookimpl
def agent_start(event, ctx):
    ctx.ui.set_status("agent", "working")


# Test

from pi_testing import text


async def test_example(pi_session, script, fake_ui):
    script.turn(text("Hello."))

    await pi_session.prompt("Hi")

    assert fake_ui.statuses == {"agent": "working"}

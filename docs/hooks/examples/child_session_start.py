"""Shows that a child session has started."""

from pi_hookspecs import hookimpl


@hookimpl
def child_session_start(event, ctx):
    ctx.ui.set_status("agent", f"{event.child.label} is working")


# Test

from pi_testing import text, usage


async def test_example(pi_session, script, fake_ui):
    script.turn(text("Nothing there."), usage(input=20, output=10))

    async with pi_session.ctx.create_session(label="scout") as child:
        await child.prompt("Look around")

    assert fake_ui.statuses["agent"] == "scout is working"

"""Notifies the user that the conversation is now a copy."""

from pi_hookspecs import hookimpl


@hookimpl
def session_fork(event, ctx):
    ctx.ui.notify("This is a copy; the original conversation is unchanged")


# Test

from pi_testing import text


async def test_example(pi_session, script, fake_ui):
    script.turn(text("Hello."))
    await pi_session.prompt("Hi")

    await pi_session.fork(pi_session.ctx.session.leaf_id, "at")

    assert fake_ui.notices[-1].message.startswith("This is a copy")

"""Notifies the user that another conversation is open."""

from pi_hookspecs import hookimpl


@hookimpl
def session_switch(event, ctx):
    ctx.ui.notify("A new conversation" if event.reason == "new" else "An earlier conversation")


# Test


async def test_example(pi_session, fake_ui):
    await pi_session.new_session()

    assert fake_ui.notices[-1].message == "A new conversation"

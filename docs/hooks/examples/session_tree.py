"""Notifies the user that the conversation continues from another entry."""

from pi_hookspecs import hookimpl


@hookimpl
def session_tree(event, ctx):
    ctx.ui.notify(f"Moved from {event.old_leaf_id} to {event.new_leaf_id}")


# Test

from pi_testing import text


async def test_example(pi_session, script, fake_ui):
    script.turn(text("One.")).turn(text("Two."))
    await pi_session.prompt("Say one")
    place = pi_session.ctx.session.leaf_id
    await pi_session.prompt("Say two")

    await pi_session.navigate_tree(place)

    assert fake_ui.notices[-1].message.endswith(f"to {place}")

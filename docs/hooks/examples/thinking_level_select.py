"""Shows the thinking level."""

from pi_hookspecs import hookimpl


@hookimpl
def thinking_level_select(event, ctx):
    ctx.ui.set_status("thinking", event.level)


# Test


async def test_example(pi_session, fake_ui):
    await pi_session.set_thinking_level("high")

    assert fake_ui.statuses == {"thinking": "high"}

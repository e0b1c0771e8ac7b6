"""Asks for confirmation before the user leaves a conversation that is not empty."""

from pi_hookspecs import SessionBeforeSwitchResult, hookimpl


@hookimpl
async def session_before_switch(event, ctx):
    if ctx.session.entries() and not await ctx.ui.confirm("Leave this conversation?"):
        return SessionBeforeSwitchResult(cancel=True)
    return None


# Test

from pi_testing import text


async def test_example(pi_session, script, fake_ui):
    fake_ui.answers_to("Leave this conversation?", False)
    script.turn(text("Hello."))
    await pi_session.prompt("Hi")

    switched = await pi_session.new_session()

    assert not switched

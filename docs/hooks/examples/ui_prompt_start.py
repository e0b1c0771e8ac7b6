"""Shows in the window title that pi is waiting for the user while a dialog is open."""

from pi_hookspecs import hookimpl


@hookimpl
def ui_prompt_start(event, ctx):
    ctx.ui.set_title(f"pi: {event.title or 'waiting for you'}")


@hookimpl
def ui_prompt_end(event, ctx):
    ctx.ui.set_title("pi")


# Test

import asyncio


async def test_example(pi_session, fake_ui):
    fake_ui.never_answers()
    asking = asyncio.ensure_future(pi_session.ctx.ui.confirm("Push to main?"))
    await fake_ui.opened()
    await asyncio.sleep(0)
    assert fake_ui.title == "pi: Push to main?"

    fake_ui.release(True)
    assert await asking
    await asyncio.sleep(0)
    assert fake_ui.title == "pi"

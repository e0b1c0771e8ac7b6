"""Shows how long the user took to answer a dialog."""

import time

from pi_hookspecs import hookimpl

asked_at = {}


@hookimpl
def ui_prompt_start(event, ctx):
    asked_at[ctx.session.id] = time.monotonic()


@hookimpl
def ui_prompt_end(event, ctx):
    seconds = time.monotonic() - asked_at.pop(ctx.session.id)
    ctx.ui.set_status("answer", f"{event.kind} answered in {seconds:.0f} s")


# Test

import asyncio


async def test_example(pi_session, fake_ui):
    fake_ui.answers("main")

    assert await pi_session.ctx.ui.select("Which branch?", ["main", "next"]) == "main"
    for _ in range(3):
        await asyncio.sleep(0)

    assert fake_ui.statuses["answer"] == "select answered in 0 s"

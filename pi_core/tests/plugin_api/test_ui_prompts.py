"""``ui_prompt_start`` and ``ui_prompt_end``: who learns that pi waits for the user."""

from __future__ import annotations

import asyncio

import pytest

from pi_testing import FakeUI


@pytest.fixture
async def asked(activated):
    """A session with a user, and the events that a plugin of it has seen."""
    ui = FakeUI()
    seen = []

    def listens(pi):
        @pi.on("ui_prompt_start")
        @pi.on("ui_prompt_end")
        async def on_prompt(event):
            await asyncio.sleep(0)
            seen.append((event.type, event.kind, event.title))

    session = await activated(listens)
    session.ui, session.has_ui = ui, True
    return session, ui, seen


async def settled():
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_dialog_is_reported_before_and_after_its_answer(asked):
    session, ui, seen = asked
    ui.never_answers()
    asking = asyncio.ensure_future(session.ctx.ui.input("Name?"))
    await ui.opened()
    await settled()
    assert seen == [("ui_prompt_start", "input", "Name?")]

    ui.release("Ada")
    assert await asking == "Ada"
    await settled()

    assert seen[1:] == [("ui_prompt_end", "input", "Name?")]


async def test_of_dialogs_that_are_open_together_the_first_is_reported(asked):
    session, ui, seen = asked
    ui.never_answers().never_answers()
    asking = asyncio.gather(session.ctx.ui.confirm("One?"), session.ctx.ui.editor("Two?"))
    await ui.opened()
    await settled()
    ui.release()
    await asking
    await settled()

    assert seen == [("ui_prompt_start", "confirm", "One?"), ("ui_prompt_end", "confirm", "One?")]


async def test_the_end_of_a_cancelled_dialog_is_reported(asked):
    session, ui, seen = asked
    ui.never_answers()
    asking = asyncio.ensure_future(session.ctx.ui.select("Which?", ["a", "b"]))
    await ui.opened()
    asking.cancel()
    await settled()

    assert [kind for kind, *_ in seen] == ["ui_prompt_start", "ui_prompt_end"]


async def test_a_dialog_does_not_wait_for_those_who_listen(activated):
    ui = FakeUI().answers(True)

    def stuck(pi):
        pi.on("ui_prompt_start", lambda event: asyncio.Event().wait())

    session = await activated(stuck)
    session.ui, session.has_ui = ui, True

    assert await session.ctx.ui.confirm("Go on?")


async def test_subscribers_get_the_events_that_they_always_got(asked, recorder):
    session, ui, seen = asked
    before = len(recorder.events)
    ui.answers(True)
    await session.ctx.ui.confirm("Sure?")
    await settled()

    assert len(seen) == 2
    assert recorder.events[before:] == []


async def test_without_a_user_nothing_is_reported(asked):
    session, ui, seen = asked
    session.has_ui = False
    ui.answers(False)
    await session.ctx.ui.confirm("Sure?")
    await settled()

    assert seen == []

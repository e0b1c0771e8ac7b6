"""A provider of a plugin from which nothing comes is named, and what comes afterwards is its own."""

from __future__ import annotations

import asyncio

import pytest

from pi_core.hooks.loop_watch import displaying_blocks
from pi_core.models import first_event
from pi_hookspecs import Model, ProviderInfo, hookimpl
from pi_testing import text

MODEL = Model(id="spring", name="Spring", api="tides", provider="tide")


class Display:
    """Records what is waited for."""

    def __init__(self):
        self.shown = []
        self.changed = asyncio.Event()

    def show_waiting(self, named):
        self.shown.append(named)
        self.changed.set()


@pytest.fixture
def waits_briefly(monkeypatch):
    monkeypatch.setattr(first_event, "WAITING_SECONDS", 0.0)


class Tides:
    """A plugin whose provider answers when it is told to."""

    api = "tides"

    def __init__(self, script):
        self.high = asyncio.Event()
        self.closed = False
        self._script = script

    @hookimpl
    def register_providers(self):
        return [self]

    @hookimpl
    def register_models(self):
        return [ProviderInfo(id="tide", name="Tide", api="tides", keyless=True, models=(MODEL,))]

    async def stream(self, model, context, options):
        try:
            await self.high.wait()
            async for event in self._script.stream(model, context, options):
                yield event
        finally:
            self.closed = True


async def test_a_provider_that_waits_is_named_until_its_first_event(session_of, script, waits_briefly):
    tides, display = Tides(script), Display()
    script.turn(text("The tide is high."))
    session = session_of(tides, model=MODEL)
    with displaying_blocks(display):
        answer = asyncio.create_task(session.prompt("How is the tide?"))
        await display.changed.wait()
        assert display.shown == ["Waiting for provider 'tide' of plugin 'plugin-0'"]
        tides.high.set()

        assert (await answer).text == "The tide is high."
        assert display.shown[1:] == [None]


async def test_an_abort_ends_a_provider_that_never_yields(session_of, script, waits_briefly):
    tides, display = Tides(script), Display()
    session = session_of(tides, model=MODEL)
    with displaying_blocks(display):
        answer = asyncio.create_task(session.prompt("How is the tide?"))
        await display.changed.wait()
        await session.abort()

        assert (await answer).stop_reason == "aborted"
        assert display.shown[-1] is None
        assert tides.closed


async def test_a_provider_that_answers_is_not_named(session_of, script):
    tides, display = Tides(script), Display()
    tides.high.set()
    script.turn(text("The tide is high."))
    session = session_of(tides, model=MODEL)
    with displaying_blocks(display):
        assert (await session.prompt("How is the tide?")).text == "The tide is high."

    assert display.shown == []

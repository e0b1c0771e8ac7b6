"""``Lifecycle`` alone: begun once, ended once, and what is waited for."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext

import pytest

from pi_core.conversation.lifecycle import Lifecycle
from pi_hookspecs import PiError


class Parts:
    """Parts that note what is called of them."""

    is_reloading = False

    def __init__(self):
        self.called = []
        self.activations = self.tools = self

    def begin(self):
        self.called.append("activate")

    def restore(self):
        pass

    def held(self):
        return nullcontext()

    def offer(self):
        self.called.append("offer tools")

    def end(self, reason=None):
        self.called.append("end" if reason is None else "retire")

    def abort_summaries(self):
        self.called.append("abort summaries")

    async def wait_for_abandoned_stream(self):
        self.called.append("left stream")

    async def summaries_settled(self):
        self.called.append("summaries")

    async def stop_warming(self):
        pass

    async def reloaded(self):
        self.called.append("reload")


@pytest.fixture
def parts():
    return Parts()


async def test_two_that_start_it_at_once_activate_the_plugins_once(runtime, parts):
    lifecycle = Lifecycle(runtime, parts)
    await asyncio.gather(lifecycle.start(), lifecycle.start())

    assert parts.called == ["activate", "offer tools"]


async def test_a_prompt_waits_for_everything_that_moves_the_conversation(runtime, parts):
    await Lifecycle(runtime, parts).ready()

    assert parts.called[2:] == ["left stream", "summaries", "reload"]


async def test_during_a_prompt_a_message_waits_for_neither_summaries_nor_reload(runtime, parts):
    lifecycle = Lifecycle(runtime, parts)
    await lifecycle.start()
    with runtime.gate.prompt():
        await lifecycle.ready()

    assert parts.called[2:] == ["left stream"]


async def test_after_the_end_it_cannot_be_started_again(runtime, parts):
    lifecycle = Lifecycle(runtime, parts)
    await lifecycle.start()
    await lifecycle.end()
    await lifecycle.end()

    with pytest.raises(PiError, match="create another"):
        await lifecycle.start()
    assert parts.called.count("retire") == 1


async def test_a_session_that_was_never_started_is_not_shut_down_for_plugins(runtime_of, plugin, parts):
    seen = []
    runtime = runtime_of(plugin(session_shutdown=lambda event: seen.append(event.type)))
    await Lifecycle(runtime, parts).end()

    assert seen == []


async def test_a_shutdown_handler_is_called_when_the_prompt_is_over(runtime, parts, until):
    lifecycle, called = Lifecycle(runtime, parts), []
    lifecycle.call_at_shutdown(lambda: called.append("end"))
    with runtime.gate.prompt():
        runtime.front_end.shutdown_requested.set()
        await asyncio.sleep(0)
        during = list(called)
    await until(lambda: called)

    assert (during, called) == ([], ["end"])

"""Slow handlers of deltas: the stream goes on, and nothing of the text is missing."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace
from typing import Any

import pytest

from pi_core.hooks.dispatcher import HookDispatcher
from pi_core.host.plugin_manager import PluginManager
from pi_hookspecs import MessageUpdateEvent, TextDelta, TextEnd

CTX: Any = SimpleNamespace(signal=None)
SOURCE: Any = SimpleNamespace(partial=lambda: None)


def delta(text: str, block: int = 0) -> MessageUpdateEvent:
    return MessageUpdateEvent(assistant_message_event=TextDelta(source=SOURCE, content_index=block, delta=text))


def end(block: int = 0) -> MessageUpdateEvent:
    return MessageUpdateEvent(assistant_message_event=TextEnd(source=SOURCE, content_index=block, content=""))


class Handler:
    """A plugin's handler that records what it gets."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.got: list[str] = []
        self.seconds = seconds

    async def __call__(self, event: Any, ctx: Any) -> None:
        inner = event.assistant_message_event
        self.got.append(getattr(inner, "delta", inner.type))
        if self.seconds:
            await asyncio.sleep(self.seconds)


@pytest.fixture
def hooks():
    failures: list[Any] = []
    manager = PluginManager(lambda hook, message: pytest.fail(f"{hook}: {message}"))
    made: Any = HookDispatcher(manager, report=failures.append)
    made.failures = failures
    return made


async def test_a_quick_handler_gets_each_delta(hooks):
    handler = Handler()
    hooks.add("quick", "message_update", handler)

    for each in "abcde":
        await hooks.notify(delta(each), CTX)
    await hooks.deltas_settled()

    assert handler.got == list("abcde")


async def test_deltas_that_come_while_a_handler_runs_are_joined_and_the_stream_does_not_wait(hooks):
    slow, quick = Handler(0.1), Handler()
    hooks.add("slow", "message_update", slow)
    hooks.add("quick", "message_update", quick)
    started = time.monotonic()

    for _ in range(100):
        await hooks.notify(delta("x"), CTX)
    await hooks.notify(end(), CTX)
    streamed = time.monotonic() - started
    await hooks.deltas_settled()

    assert streamed < 100 * slow.seconds
    assert quick.got == ["x"] * 100 + ["text_end"]
    assert slow.got[0] == "x"
    assert slow.got[-1] == "text_end"
    assert "".join(slow.got[:-1]) == "x" * 100
    assert len(slow.got) < 10


async def test_blocks_are_not_joined_with_each_other(hooks):
    slow = Handler(0.1)
    hooks.add("slow", "message_update", slow)

    for each in (delta("first"), delta("a"), delta("b"), end(), delta("c", 1), delta("d", 1)):
        await hooks.notify(each, CTX)
    await hooks.deltas_settled()

    assert slow.got == ["first", "ab", "text_end", "cd"]


async def test_each_message_begins_anew(hooks):
    handler = Handler(0.1)
    hooks.add("sometimes", "message_update", handler)
    await hooks.notify(delta("a"), CTX)
    await hooks.notify(delta("b"), CTX)
    await hooks.deltas_settled()
    handler.seconds = 0.0

    for each in "cde":
        await hooks.notify(delta(each), CTX)

    assert handler.got == list("abcde")


async def test_a_slow_handler_that_fails_is_reported_with_its_plugin(hooks):
    async def fails(event: Any, ctx: Any) -> None:
        await asyncio.sleep(0.1)
        raise ValueError("broken")

    hooks.add("fails", "message_update", fails)

    for each in "abc":
        await hooks.notify(delta(each), CTX)
    await hooks.deltas_settled()

    assert {(each.plugin, each.kind) for each in hooks.failures} == {("fails", "raised")}

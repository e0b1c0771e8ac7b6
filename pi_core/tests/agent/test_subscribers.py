"""Listeners get the events that they are subscribed to, deltas too, which take a way of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pi_core.agent.subscribers import Subscribers
from pi_hookspecs import MessageBuilder, MessageUpdateEvent, Model, TurnStartEvent

if TYPE_CHECKING:
    from collections.abc import Callable

BUILDER = MessageBuilder(Model(id="m", name="M", api="a", provider="p"))
EVENTS = {
    "turn_start": TurnStartEvent(turn_index=0, timestamp=0),
    "text_start": MessageUpdateEvent(assistant_message_event=BUILDER.text_start()),
    "text_delta": MessageUpdateEvent(assistant_message_event=BUILDER.text(0, "a")),
}
SUBSCRIBED = {
    (): ["turn_start", "text_start", "text_delta"],
    ("turn_start",): ["turn_start"],
    ("message_update",): ["text_start", "text_delta"],
    ("text_delta",): ["text_delta"],
    ("text_delta", "turn_start"): ["turn_start", "text_delta"],
    ("toolcall_delta",): [],
}


async def emit_all(subscribers: Subscribers) -> None:
    for name, event in EVENTS.items():
        emit = subscribers.emit if name == "turn_start" else subscribers.emit_delta
        waiting = emit(event, None)  # type: ignore[arg-type] # each its own
        if waiting is not None:
            await waiting


@pytest.mark.parametrize(("types", "expected"), SUBSCRIBED.items())
async def test_a_listener_gets_the_types_that_it_named(types: tuple[str, ...], expected: list[str]) -> None:
    subscribers, got = Subscribers(), []
    subscribers.add(got.append, frozenset(types))

    await emit_all(subscribers)

    assert got == [EVENTS[name] for name in expected]


async def test_both_ways_call_the_same_listeners_in_order() -> None:
    subscribers, got = Subscribers(), []
    for name, types in (("first", {"text_delta"}), ("second", set()), ("third", {"message_update"})):
        subscribers.add(lambda _event, name=name: got.append(name), frozenset(types))
    event: Any = EVENTS["text_delta"]

    await subscribers.emit(event, None)
    by_emit = [*got]
    got.clear()
    waiting = subscribers.emit_delta(event, None)
    assert waiting is not None
    await waiting

    assert got == by_emit == ["first", "second", "third"]


async def test_subscribing_and_unsubscribing_count_from_the_next_delta() -> None:
    subscribers, got = Subscribers(), []
    event: Any = EVENTS["text_delta"]
    removes: list[Callable[[], None]] = []

    assert subscribers.emit_delta(event, None) is None
    removes.append(subscribers.add(got.append, frozenset({"text_delta"})))
    waiting = subscribers.emit_delta(event, None)
    assert waiting is not None
    await waiting
    removes[0]()

    assert subscribers.emit_delta(event, None) is None
    assert got == [event]

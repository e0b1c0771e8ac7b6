"""Slow handlers of deltas: the answer does not wait for them, and what comes while one runs is joined.

A handler is called for each delta as long as it is quick. Once a call has taken long, the further deltas of the message
are handled in a task: those that come while the handler runs are joined into the next events that it gets.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_core.hooks.containment import clock
from pi_core.hooks.records import HookCall

if TYPE_CHECKING:
    from pi_core.hooks.combining import Invoke
    from pi_core.hooks.records import HookImplementation

__all__ = ["Joining"]

SLOW_SECONDS = 0.02
"""A handler that takes longer is not waited for."""


class Joining:
    """The handlers of one dispatcher that are not waited for.

    Args:
        invoke: Calls one implementation.
    """

    def __init__(self, invoke: Invoke) -> None:
        self._invoke = invoke
        self._lanes: dict[HookImplementation, _Lane] = {}

    async def invoke(self, call: HookCall, implementation: HookImplementation, event: Any) -> None:
        """Call an implementation; if it is slow, let it handle the event later."""
        lane = self._lanes.get(implementation)
        if lane is not None:
            lane.add(call, event)
            return
        started = clock()
        await self._invoke(call, implementation, event)
        if clock() - started > SLOW_SECONDS:
            self._lanes[implementation] = _Lane(self._invoke, implementation)

    @property
    def is_empty(self) -> bool:
        """Whether every handler is waited for."""
        return not self._lanes

    async def settled(self) -> None:
        """Return when all events have been handled, at the end of a message; the next one begins anew."""
        lanes, self._lanes = self._lanes, {}
        for each in lanes.values():
            await each.settled()


class _Lane:
    """The events that one implementation has still to handle."""

    def __init__(self, invoke: Invoke, implementation: HookImplementation) -> None:
        self._invoke = invoke
        self._implementation = implementation
        self._events: list[tuple[HookCall, Any]] = []
        self._task: asyncio.Task[None] | None = None

    def add(self, call: HookCall, event: Any) -> None:
        """Let the implementation handle an event after the earlier ones, joined with the last one if possible."""
        joined = _joined(self._events[-1][1], event) if self._events else None
        if joined is not None:
            self._events[-1] = call, joined
        else:
            self._events.append((call, event))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._handle())

    async def _handle(self) -> None:
        while self._events:
            call, event = self._events.pop(0)
            if call.signal is not None and call.signal.aborted:
                self._events.clear()
                return
            await self._invoke(HookCall(call.hook, call.ctx), self._implementation, event)

    async def settled(self) -> None:
        """Return when nothing is left to handle."""
        if self._task is not None:
            await asyncio.wait([self._task])


def _joined(first: Any, second: Any) -> Any:
    """Return one event for two deltas of the same block; None for all other events."""
    before, after = first.assistant_message_event, second.assistant_message_event
    if type(before) is not type(after) or not hasattr(after, "delta") or before.content_index != after.content_index:
        return None
    return evolve(second, assistant_message_event=evolve(after, delta=before.delta + after.delta))

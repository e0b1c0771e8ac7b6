"""Implementations that are called at most once in an interval: between calls they are not in their hook at all.

An answer has thousands of deltas a second, and a call that decides to do nothing costs as much as one that does
something. While no implementation is due, the event is not even created.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pi_core.hooks.records import HookImplementation

__all__ = ["Resting"]


class Resting:
    """The implementations of one dispatcher that are not due.

    Args:
        update: Called with the name of a hook when an implementation of it begins or ends to rest.
    """

    def __init__(self, update: Callable[[str], None]) -> None:
        self._update = update
        self._timers: dict[HookImplementation, asyncio.TimerHandle] = {}

    def apply(self, implementation: HookImplementation, seconds: Callable[[], float]) -> None:
        """Let an implementation rest for some seconds from the start of each call; they are read again after it."""
        call = implementation.call

        def call_and_rest(event: Any, ctx: Any) -> Any:
            if implementation.rests:
                return None  # of an event for which it was called together with others, that had to be waited for
            started = asyncio.get_running_loop().time()
            self._begin(implementation, started + seconds())
            answer = call(event, ctx)
            return self._waited(implementation, started, seconds, answer) if hasattr(answer, "__await__") else answer

        implementation.call = call_and_rest

    async def _waited(
        self, implementation: HookImplementation, started: float, seconds: Callable[[], float], answer: Awaitable[Any]
    ) -> Any:
        try:
            return await answer
        finally:
            until = started + seconds()
            timer = self._timers.get(implementation)
            if until > asyncio.get_running_loop().time() and (timer is None or until > timer.when()):
                self._begin(implementation, until)

    def close(self) -> None:
        """Release the timers: all implementations are due."""
        for implementation, timer in tuple(self._timers.items()):
            timer.cancel()
            self._end(implementation)

    def _begin(self, implementation: HookImplementation, until: float) -> None:
        timer = self._timers.get(implementation)
        if timer is not None:
            timer.cancel()
        self._timers[implementation] = asyncio.get_running_loop().call_at(until, self._end, implementation)
        implementation.rests = True
        self._update(implementation.hook)

    def _end(self, implementation: HookImplementation) -> None:
        del self._timers[implementation]
        implementation.rests = False
        self._update(implementation.hook)

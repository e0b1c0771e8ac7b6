"""Implementations that are called at most once in an interval: between calls they are not in their hook at all.

An answer has thousands of deltas a second, and a call that decides to do nothing costs as much as one that does
something. While no implementation is due, the event is not even created.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

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

    def apply(self, implementation: HookImplementation, seconds: float) -> None:
        """Let an implementation rest for some seconds from the start of each call."""
        call = implementation.call

        def call_and_rest(event: Any, ctx: Any) -> Any:
            if implementation.rests:
                return None  # of an event for which it was called together with others, that had to be waited for
            self._begin(implementation, seconds)
            return call(event, ctx)

        implementation.call = call_and_rest

    def close(self) -> None:
        """Release the timers: all implementations are due."""
        for implementation, timer in tuple(self._timers.items()):
            timer.cancel()
            self._end(implementation)

    def _begin(self, implementation: HookImplementation, seconds: float) -> None:
        self._timers[implementation] = asyncio.get_running_loop().call_later(seconds, self._end, implementation)
        implementation.rests = True
        self._update(implementation.hook)

    def _end(self, implementation: HookImplementation) -> None:
        del self._timers[implementation]
        implementation.rests = False
        self._update(implementation.hook)

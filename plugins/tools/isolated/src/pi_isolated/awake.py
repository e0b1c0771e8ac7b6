"""Whether pi's event loop stays awake for the answer of a program, or sleeps until it arrives.

A processor that sleeps takes longer to wake up than most hooks take. Staying awake pays where the program has a
processor to itself; where both share one, the program could not begin before pi sleeps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

__all__ = ["AWAKE_SECONDS", "Awake"]

AWAKE_SECONDS = 0.0003
"""How long the loop stays awake for one answer: three times what most of them take."""

_MOST_MISSED = 4


class Awake:
    """Keeps the event loop awake for the answers of one program, as long as they arrive in time.

    After an answer that did not, the loop sleeps for the next 4 of them, then for 16, 64 and 256.

    Args:
        loop: The event loop.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._is_awake = False
        self._missed = 0
        self._asleep_for = 0

    def expect(self, answer: asyncio.Future[Any]) -> None:
        """Keep the loop awake for an answer, if that is likely to pay."""
        if self._asleep_for:
            self._asleep_for -= 1
        elif not self._is_awake:  # else for another answer
            self._is_awake = True
            self._turn(answer, self._loop.time() + AWAKE_SECONDS)

    def _turn(self, answer: asyncio.Future[Any], end: float) -> None:
        if not answer.done() and self._loop.time() < end:
            self._loop.call_soon(self._turn, answer, end)
            return
        self._is_awake = False
        if not answer.done():
            self._missed = min(self._missed + 1, _MOST_MISSED)
            self._asleep_for = 4**self._missed
        elif not answer.cancelled():
            self._missed = 0

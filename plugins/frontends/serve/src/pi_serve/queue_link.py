"""A link whose lines wait in memory until the server that hosts the application takes them."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

__all__ = ["QueueLink"]


class QueueLink:
    """Implements ``Link`` for a transport that is awaited for each line.

    Args:
        alive_seconds: Seconds without a line after which an empty one is delivered.
    """

    def __init__(self, alive_seconds: float) -> None:
        self._alive_seconds = alive_seconds
        self._lines: deque[bytes] = deque()
        self._news = asyncio.Event()
        self._ended = False
        self._waiting = 0

    @property
    def waiting(self) -> int:
        """The number of bytes that are not delivered yet."""
        return self._waiting

    def write(self, line: bytes) -> None:
        """Queue a line."""
        if not self._ended:
            self._lines.append(line)
            self._waiting += len(line)
            self._news.set()

    def end(self, reason: str) -> None:
        """End once everything is delivered."""
        self._ended = True
        self._news.set()

    async def pump(self, deliver: Callable[[bytes | None], Awaitable[None]], end: Callable[[], object]) -> None:
        """Deliver lines until the link ends; None if there was none for a while.

        Args:
            deliver: Delivers a line; an OSError means that the client is gone.
            end: Called at the end.
        """
        try:
            while self._lines or not self._ended:
                await deliver(await self._next())
        except OSError:
            self._ended = True
            self._lines.clear()
        finally:
            end()

    async def _next(self) -> bytes | None:
        while not self._lines:
            self._news.clear()
            if self._ended:
                return None
            try:
                await asyncio.wait_for(self._news.wait(), self._alive_seconds)
            except TimeoutError:
                return None
        line = self._lines.popleft()
        self._waiting -= len(line)
        return line

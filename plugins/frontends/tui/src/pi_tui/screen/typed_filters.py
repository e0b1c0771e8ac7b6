"""What plugins see of the terminal's input before it is read: each handler may discard it, or replace it."""

from __future__ import annotations

import asyncio
import codecs
import concurrent.futures
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs import TerminalInputHandler

__all__ = ["TypedFilters"]

_SECONDS = 1.0
"""How long the thread that reads waits for the handlers; then the input counts as it is."""


class TypedFilters:
    """Handlers of plugins, in the order in which they were added; each gets what the one before it returned."""

    def __init__(self) -> None:
        self._handlers: list[TerminalInputHandler] = []
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._loop: asyncio.AbstractEventLoop | None = None

    def add(self, handler: TerminalInputHandler) -> Callable[[], None]:
        """Add a handler; returns how to remove it."""
        self._loop = asyncio.get_running_loop()
        self._handlers.append(handler)

        def remove() -> None:
            if handler in self._handlers:
                self._handlers.remove(handler)

        return remove

    def filtered(self, text: str) -> str:
        """Return what the handlers leave of a text."""
        for handler in [*self._handlers]:
            answer = handler(text)
            if answer is True:
                return ""
            text = answer if isinstance(answer, str) else text
        return text

    def filtered_in_thread(self, data: bytes) -> bytes:
        """Return what the handlers leave of input; called in the thread that reads it."""
        if not self._handlers or self._loop is None or self._loop.is_closed():
            return data
        text = self._decoder.decode(data)
        waiting = asyncio.run_coroutine_threadsafe(self._filtered_later(text), self._loop)
        try:
            return waiting.result(_SECONDS).encode()
        except concurrent.futures.TimeoutError:
            waiting.cancel()
            return text.encode()

    async def _filtered_later(self, text: str) -> str:
        return self.filtered(text)

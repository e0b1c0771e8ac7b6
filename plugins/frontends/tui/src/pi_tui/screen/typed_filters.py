"""Plugins' handlers of the terminal's input, which may discard or replace it before keys are read from it."""

from __future__ import annotations

import asyncio
import codecs
import concurrent.futures
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs import TerminalInputHandler

__all__ = ["TypedFilters"]

_SECONDS = 1.0
"""Seconds that the input thread waits for the handlers; after that, it uses the input unchanged."""


class TypedFilters:
    """Handlers in the order in which they were added; each receives the result of the previous handler."""

    def __init__(self) -> None:
        self._handlers: list[TerminalInputHandler] = []
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._loop: asyncio.AbstractEventLoop | None = None

    def add(self, handler: TerminalInputHandler) -> Callable[[], None]:
        """Add a handler; return a function that removes it."""
        self._loop = asyncio.get_running_loop()
        self._handlers.append(handler)

        def remove() -> None:
            if handler in self._handlers:
                self._handlers.remove(handler)

        return remove

    async def filtered(self, text: str) -> str:
        """Return a text after all handlers; empty if one of them discards it."""
        for handler in [*self._handlers]:
            answer: Any = handler(text)
            if hasattr(answer, "__await__"):
                answer = await answer
            if answer is True:
                return ""
            text = answer if isinstance(answer, str) else text
        return text

    def filtered_in_thread(self, data: bytes) -> bytes:
        """Return input after all handlers; called in the thread that reads the input."""
        if not self._handlers or self._loop is None or self._loop.is_closed():
            return data
        text = self._decoder.decode(data)
        waiting = asyncio.run_coroutine_threadsafe(self.filtered(text), self._loop)
        try:
            return waiting.result(_SECONDS).encode()
        except concurrent.futures.TimeoutError:
            waiting.cancel()
            return text.encode()

"""Plugins' handlers of the terminal's input, which may discard or replace it before keys are read from it."""

from __future__ import annotations

import asyncio
import codecs
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs import TerminalInputHandler

__all__ = ["TypedFilters"]

_SECONDS = 1.0
"""Seconds for which input waits for the handlers; after that, it is used unchanged."""


class TypedFilters:
    """Handlers in the order in which they were added; each receives the result of the previous handler."""

    def __init__(self) -> None:
        self._handlers: list[TerminalInputHandler] = []
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    @property
    def is_empty(self) -> bool:
        """Whether there are no handlers."""
        return not self._handlers

    def add(self, handler: TerminalInputHandler) -> Callable[[], None]:
        """Add a handler; return a function that removes it."""
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

    async def bytes_after(self, data: bytes) -> bytes:
        """Return input after all handlers; unchanged if they take too long, or fail while they are waited for."""
        text = self._decoder.decode(data)
        filtering = asyncio.ensure_future(self.filtered(text))
        try:
            done, _ = await asyncio.wait((filtering,), timeout=_SECONDS)  # and no longer, whatever a handler catches
        finally:
            filtering.cancel()
        has_answered = bool(done) and not filtering.cancelled() and filtering.exception() is None
        return (filtering.result() if has_answered else text).encode()

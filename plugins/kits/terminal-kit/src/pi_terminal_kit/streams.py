"""Wrappers of the terminal's streams: text goes through ``write``; the rest is delegated to the wrapped stream."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterable
    from typing import TextIO

__all__ = ["StandIn", "StrayLines"]


class StandIn:
    """A wrapper of a stream.

    Args:
        stream: The wrapped stream.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write text."""
        raise NotImplementedError

    def writelines(self, lines: Iterable[str]) -> None:
        """Write texts, one after another."""
        self.write("".join(lines))

    def flush(self) -> None:
        """Do nothing: text is drawn later."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class StrayLines(StandIn):
    """Replaces ``sys.stdout`` and ``sys.stderr``, so that printed text appears as whole lines between other output.

    Args:
        stream: The wrapped stream.
        line: Writes a line.
        loop: The event loop in which lines are written; any thread may print.
    """

    def __init__(self, stream: TextIO, line: Callable[[str], object], loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(stream)
        self._line = line
        self._loop = loop
        self._lock = threading.Lock()
        self._thread = threading.get_ident()
        self._begun = ""

    def write(self, text: str) -> int:
        """Write text; an incomplete last line is buffered until it is complete."""
        with self._lock:
            lines, end, self._begun = (self._begun + text).rpartition("\n")
        if end:
            self._pass_on(lines)
        return len(text)

    def close(self) -> None:
        """Write the buffered incomplete line."""
        with self._lock:
            rest, self._begun = self._begun, ""
        if rest:
            self._pass_on(rest)

    def _pass_on(self, lines: str) -> None:
        if threading.get_ident() == self._thread:
            self._line(lines)
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._line, lines)

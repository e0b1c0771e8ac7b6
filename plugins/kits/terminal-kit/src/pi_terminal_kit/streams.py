"""Wrappers of the terminal's streams: text goes through ``write``; the rest is delegated to the wrapped stream."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterable, Sequence
    from typing import TextIO

__all__ = ["StandIn", "StrayLines", "printed_by"]


def printed_by(plugins: Sequence[str], lines: str, *, is_known: bool = True) -> str:
    """Return printed lines with the name of the plugin that has printed them.

    Args:
        plugins: The plugin; several if it is one of them.
        lines: What was printed.
        is_known: Whether it is pi or a library if no plugin is named, and not code that could not be found.
    """
    if not plugins and is_known:
        return lines
    who = f"Plugin {' or '.join(map(repr, plugins))}" if plugins else "A plugin, or a program that one has started,"
    return f"{who} printed:{chr(10) if chr(10) in lines else ' '}{lines}"


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
        line: Writes lines, which name the plugin that has printed them; its second argument is this plugin, or None.
        loop: The event loop in which lines are written; any thread may print.
        owner: Returns the plugin whose code prints, None for all other code; called by the code that prints.
    """

    def __init__(
        self,
        stream: TextIO,
        line: Callable[[str, str | None], object],
        loop: asyncio.AbstractEventLoop,
        owner: Callable[[], str | None] = lambda: None,
    ) -> None:
        super().__init__(stream)
        self._owner = owner
        self._begun_by: str | None = None
        self._line = line
        self._loop = loop
        self._lock = threading.Lock()
        self._thread = threading.get_ident()
        self._begun = ""

    def write(self, text: str) -> int:
        """Write text; an incomplete last line is buffered until it is complete."""
        owner = self._owner()
        with self._lock:
            before = (self._begun_by, self._begun) if self._begun and owner != self._begun_by else None
            lines, end, self._begun = ((self._begun if before is None else "") + text).rpartition("\n")
            self._begun_by = owner
        if before is not None:
            self._pass_on(*before)
        if end:
            self._pass_on(owner, lines)
        return len(text)

    def close(self) -> None:
        """Write the buffered incomplete line."""
        with self._lock:
            rest, self._begun = self._begun, ""
        if rest:
            self._pass_on(self._begun_by, rest)

    def _pass_on(self, owner: str | None, lines: str) -> None:
        if owner is not None and lines.strip():
            lines = printed_by([owner], lines)
        if threading.get_ident() == self._thread:
            self._line(lines, owner)
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._line, lines, owner)

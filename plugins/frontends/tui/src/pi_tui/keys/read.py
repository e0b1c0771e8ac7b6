"""Reads the terminal in the event loop: from a thread, each key would arrive a quarter of a millisecond later."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from pi_terminal_kit.pastes import marks_pastes
from pi_tui.keys.meanwhile import TypedMeanwhile
from pi_tui.keys.parse import Parser

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_tui.keys.events import Event
    from pi_tui.screen.typed_filters import TypedFilters

__all__ = ["KeyReader"]

_SEQUENCE_SECONDS = 0.05
"""Seconds without further input after which the possible beginning of a sequence counts as a key."""

_MOST = 1 << 16
"""Bytes that are read at once."""


class KeyReader:
    """Reads events from the terminal until it is stopped.

    Args:
        descriptor: The terminal's input.
        filters: Plugins' handlers of the input.
        take: Called with the events of each input.
        end: Called when the terminal was closed.
    """

    def __init__(
        self,
        descriptor: int,
        filters: TypedFilters,
        take: Callable[[list[Event]], object],
        end: Callable[[], object],
    ) -> None:
        self._filters = filters
        self._take = take
        self._end = end
        self._loop = asyncio.get_running_loop()
        self._parser = Parser(marks_pastes=marks_pastes(os.environ.get("TERM", "")))
        self._descriptor = _reopened(descriptor)
        self._unfiltered = self._asked = b""
        self._meanwhile = TypedMeanwhile()
        self._filtering: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def start(self, early: bytes) -> None:
        """Begin with input that was read before; ``take`` is called with the variables of the present task."""
        self._feed(early)
        self._loop.add_reader(self._descriptor, self._read)

    def close(self) -> bytes:
        """Stop reading, and return what was not passed on yet; a key that may continue is not waited for."""
        with suppress(RuntimeError):  # the loop was closed
            self._loop.remove_reader(self._descriptor)
        self._stop_timer()
        if self._filtering is not None:
            self._filtering.cancel()
        with suppress(OSError):
            os.close(self._descriptor)
        rest = self._asked + self._unfiltered + self._meanwhile.take()
        self._asked = self._unfiltered = b""
        return rest

    def read_meanwhile(self) -> int:
        """Read keys while the loop stands still, in any thread; return how often Ctrl+C is among them.

        The loop gets the other keys as soon as it runs again.
        """
        pressed = self._meanwhile.read(self._descriptor, _MOST)
        with suppress(RuntimeError):  # the loop was closed
            self._loop.call_soon_threadsafe(self._take_meanwhile)
        return pressed

    def _take_meanwhile(self) -> None:
        data = self._meanwhile.take()
        if data:
            self._take_in(data)

    def _read(self) -> None:
        before = self._meanwhile.take()
        try:
            data = os.read(self._descriptor, _MOST)
        except BlockingIOError:  # another program was faster
            if before:
                self._take_in(before)
            return
        except OSError:
            data = b""
        if not data:
            self._loop.remove_reader(self._descriptor)
            self._end()
        else:
            self._take_in(before + data)

    def _take_in(self, data: bytes) -> None:
        if self._filtering is None and self._filters.is_empty:
            self._feed(data)
        else:
            self._stop_timer()  # what a sequence continues with may be there, and is not known yet
            self._unfiltered += data
            self._filtering = self._filtering or self._loop.create_task(self._filter())

    async def _filter(self) -> None:
        """Pass on what is read, in order: what arrives while a handler waits is asked about together."""
        try:
            while self._unfiltered:
                self._asked, self._unfiltered = self._unfiltered, b""
                found = await self._filters.bytes_after(self._asked)
                self._asked = b""
                self._feed(found)
        finally:
            self._filtering = None

    def _feed(self, data: bytes) -> None:
        self._pass_on(self._parser.feed(data))

    def _flush(self) -> None:
        self._pass_on(self._parser.flush())

    def _pass_on(self, found: list[Event]) -> None:
        self._stop_timer()
        if self._parser.pending and not self._unfiltered:
            self._timer = self._loop.call_later(_SEQUENCE_SECONDS, self._flush)
        self._take(found)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _reopened(descriptor: int) -> int:
    """Return a descriptor of the same terminal that never blocks; the one of standard input is shared with programs."""
    try:
        return os.open(os.ttyname(descriptor), os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:  # it has no name here
        return os.dup(descriptor)

"""Reads and writes lines on descriptors from an event loop, whatever they are: pipes, files, terminals.

The descriptors stay as they are, since the parent process may share them: one is read by a thread, and the other is
asked before each piece whether it would take one.
"""

from __future__ import annotations

import asyncio
import os
import select
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from pi_client.framing import MAX_LINE, LineSplitter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["FULL", "LineReader", "LineWriter"]

_CHUNK = 64 * 1024

_AHEAD = 16
"""Chunks that are read and not dealt with."""

_PIECE = 4096
"""Bytes that a pipe takes at once when it takes any (``PIPE_BUF``)."""

_TURN = 1024 * 1024
"""Bytes to write before others on the event loop have their turn."""

FULL = 1024 * 1024
"""Bytes that may wait before what produces them should wait, too."""

_PATIENCE = 1.0
"""Seconds without any progress after which a reader that does not read the last words is left."""


class LineReader:
    """Reads lines in a thread of its own, which does not keep the process from ending.

    A thread reads every kind of stdin: pipes, files, terminals. It reads ahead a little and then waits until the
    lines are taken.

    Args:
        descriptor: What to read.
        on_lines: Gets the lines, on the event loop; None is one that was too long.
        on_end: Called on the event loop when there is no more.
        before: What was read of the descriptor already.
    """

    def __init__(
        self,
        descriptor: int,
        on_lines: Callable[[Sequence[bytes | None]], None],
        on_end: Callable[[], None],
        before: bytes = b"",
    ) -> None:
        self._descriptor = descriptor
        self._on_lines = on_lines
        self._on_end = on_end
        self._before = before
        self._splitter = LineSplitter(MAX_LINE)
        self._loop = asyncio.get_running_loop()
        self._credit = threading.Semaphore(_AHEAD)
        self._owed = 0
        self._held = False

    def start(self) -> None:
        """Begin to read."""
        threading.Thread(target=self._read, name="line-reader", daemon=True).start()

    def hold(self) -> None:
        """Stop reading, except for what was read ahead."""
        self._held = True

    def go_on(self) -> None:
        """Continue to read."""
        self._held = False
        if self._owed:
            self._credit.release(self._owed)
            self._owed = 0

    def _read(self) -> None:
        with suppress(RuntimeError):  # the loop has ended; there is no listener any more
            if self._before:
                self._credit.acquire()
                self._loop.call_soon_threadsafe(self._take, self._before)
            while True:
                self._credit.acquire()
                try:
                    chunk = os.read(self._descriptor, _CHUNK)
                except OSError:  # as good as its end
                    chunk = b""
                self._loop.call_soon_threadsafe(self._take, chunk)
                if not chunk:
                    return

    def _take(self, chunk: bytes) -> None:
        try:
            lines = self._splitter.feed(chunk) if chunk else self._splitter.end()
            if lines:
                self._on_lines(lines)
        finally:  # whatever a line was answered with, the next one is read
            if not chunk:
                self._on_end()
            elif self._held:
                self._owed += 1
            else:
                self._credit.release()


class LineWriter:
    """Lines on their way to the reader of a pipe, file or terminal.

    Args:
        descriptor: Where they are written.
        on_gone: Called once when nothing can be written any more.

    Attributes:
        failure: Why nothing can be written any more; None while it can.
    """

    def __init__(self, descriptor: int, on_gone: Callable[[], None]) -> None:
        self.failure: OSError | None = None
        self._descriptor = descriptor
        self._on_gone = on_gone
        self._loop = asyncio.get_running_loop()
        self._lines: list[bytes] = []
        self._rest = memoryview(b"")
        self._size = 0
        self._blocked = self._scheduled = self._gone = self._closing = False
        self._less = asyncio.Event()
        self._poll = select.poll() if hasattr(select, "poll") else None
        if self._poll is not None:
            self._poll.register(descriptor, select.POLLOUT)

    def write(self, line: bytes) -> None:
        """Write a line, given without its newline, as soon as it is taken."""
        if self._gone:
            return
        self._lines.append(line)
        self._size += len(line) + 1
        if not self._scheduled and not self._blocked:
            self._scheduled = True
            self._loop.call_soon(self._flush)

    @property
    def is_full(self) -> bool:
        """Whether so much waits for the reader that what produces lines should wait, too: see ``room``."""
        return self._size > FULL and not (self._closing or self._gone)

    async def room(self, limit: int = FULL, stopped: Callable[[], bool] = bool) -> None:
        """Return when no more than ``limit`` bytes wait for the reader, or when waiting is of no use any more.

        Args:
            limit: Bytes.
            stopped: Returns whether to stop waiting; asked after ``wake``.
        """
        while self._size > limit and not (self._closing or self._gone or stopped()):
            await self._until_less()

    def wake(self) -> None:
        """Let ``room`` ask whether to stop waiting."""
        self._less.set()

    async def _until_less(self) -> None:
        self._less.clear()
        await self._less.wait()

    def wait_no_more(self) -> None:
        """Let nothing wait for the reader from now on: the end is near."""
        self._closing = True
        self._less.set()

    async def close(self) -> None:
        """Return when everything is written, or when the other end does not read it."""
        self.wait_no_more()
        before = -1
        while self._size and not self._gone and self._size != before:
            before = self._size
            try:
                async with asyncio.timeout(_PATIENCE):
                    while self._size and not self._gone:
                        await self._until_less()
            except TimeoutError:
                continue
        self._unblock()

    def _flush(self) -> None:
        """Write as much as is taken."""
        self._scheduled = False
        written = 0
        try:
            while self._size and written < _TURN:
                if not self._rest:
                    self._rest = self._next()
                if not self._takes_more():
                    self._block()
                    return
                count = os.write(self._descriptor, self._rest[:_PIECE])
                self._rest = self._rest[count:]
                self._size -= count
                written += count
        except OSError as error:
            self._fail(error)
            return
        self._less.set()
        if self._size and not self._blocked:
            self._scheduled = True
            self._loop.call_soon(self._flush)
        elif not self._size:
            self._unblock()

    def _next(self) -> memoryview:
        lines, self._lines = self._lines, []
        return memoryview(b"\n".join((*lines, b"")))

    def _takes_more(self) -> bool:
        return self._poll is None or bool(self._poll.poll(0))

    def _block(self) -> None:
        self._less.set()
        if not self._blocked:
            self._blocked = True
            self._loop.add_writer(self._descriptor, self._flush)

    def _unblock(self) -> None:
        if self._blocked:
            self._blocked = False
            self._loop.remove_writer(self._descriptor)

    def _fail(self, error: OSError) -> None:
        self.failure = error
        self._gone = True
        self._unblock()
        self._lines.clear()
        self._rest = memoryview(b"")
        self._size = 0
        self._less.set()
        self._on_gone()

"""The protocol's two streams: reserved for the protocol, and read line by line.

What plugins and the programs that they start print goes to stderr, and what they read from stdin is empty, whether they
use Python's streams or the descriptors.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from contextlib import contextmanager, redirect_stdout, suppress
from typing import TYPE_CHECKING

from pi_client.framing import MAX_LINE, LineSplitter
from pi_core.base.process.streams import copy_of, is_open

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["LineReader", "own_streams"]

_CHUNK = 64 * 1024

_AHEAD = 16
"""Chunks that are read and not dealt with."""


@contextmanager
def own_streams() -> Iterator[tuple[int, int]]:
    """Keep stdin and stdout for the protocol inside the block; gives their descriptors."""
    sys.stdout.flush()
    mine = (copy_of(0, os.O_RDONLY), copy_of(_stdout(), os.O_WRONLY))
    before = copy_of(1, os.O_WRONLY)
    nothing = os.open(os.devnull, os.O_RDWR)
    try:
        os.dup2(nothing, 0)
        os.dup2(2 if is_open(2) else nothing, 1)
        with redirect_stdout(sys.stderr):
            yield mine
    finally:
        with suppress(OSError):
            sys.stdout.flush()
        os.dup2(mine[0], 0)  # and stays open: a thread may still read it
        os.dup2(before, 1)
        for descriptor in (mine[1], before, nothing):
            os.close(descriptor)


def _stdout() -> int:
    """Return the descriptor of stdout, even if the program has redirected other output."""
    try:
        return sys.stdout.fileno()
    except (AttributeError, OSError, ValueError):  # it is none of the process's streams
        return 1


class LineReader:
    """Reads lines in a thread of its own, which does not keep the process from ending.

    A thread reads every kind of stdin: pipes, files, terminals. It reads ahead a little and then waits until the
    lines are taken.

    Args:
        descriptor: What to read.
        on_lines: Gets the lines, on the event loop; None is one that was too long.
        on_end: Called on the event loop when there is no more.
    """

    def __init__(
        self, descriptor: int, on_lines: Callable[[Sequence[bytes | None]], None], on_end: Callable[[], None]
    ) -> None:
        self._descriptor = descriptor
        self._on_lines = on_lines
        self._on_end = on_end
        self._splitter = LineSplitter(MAX_LINE)
        self._loop = asyncio.get_running_loop()
        self._credit = threading.Semaphore(_AHEAD)
        self._owed = 0
        self._held = False

    def start(self) -> None:
        """Begin to read."""
        threading.Thread(target=self._read, name="rpc-stdin", daemon=True).start()

    def hold(self) -> None:
        """Stop reading, but for what is read ahead."""
        self._held = True

    def go_on(self) -> None:
        """Read on."""
        self._held = False
        if self._owed:
            self._credit.release(self._owed)
            self._owed = 0

    def _read(self) -> None:
        with suppress(RuntimeError):  # the loop has ended; there is no listener any more
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
        lines = self._splitter.feed(chunk) if chunk else self._splitter.end()
        if lines:
            self._on_lines(lines)
        if not chunk:
            self._on_end()
        elif self._held:
            self._owed += 1
        else:
            self._credit.release()

"""Reads a command's output from its pipe in a thread, as fast as it arrives."""

from __future__ import annotations

import asyncio
import os
import select
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Pump", "output_pipe"]

_READ = 1 << 20
_IDLE = 0.1
"""Seconds of silence after which reading stops once the command has ended."""
_LONGEST = 2.0
"""Seconds after which reading stops even if a background process keeps writing."""


def output_pipe() -> tuple[int, int]:
    """Return the two ends of a pipe with the largest buffer that the system allows."""
    readable, writable = os.pipe()
    with suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(writable, fcntl.F_SETPIPE_SZ, _READ)
    return readable, writable


class Pump(threading.Thread):
    """Reads a pipe to its end or, after ``finish``, until it is silent.

    Args:
        descriptor: The reading end; the caller keeps it and may close it at any time.
        take: Called with every piece, in the thread.
    """

    def __init__(self, descriptor: int, take: Callable[[bytes], None]) -> None:
        super().__init__(daemon=True, name="pi-output")
        self._loop = asyncio.get_running_loop()
        self._take = take
        self._finishing = threading.Event()
        self._wake, self._waker = os.pipe()
        try:
            self._source = os.dup(descriptor)
        except OSError:
            os.close(self._wake)
            os.close(self._waker)
            raise
        self.done: asyncio.Future[None] = self._loop.create_future()

    def run(self) -> None:
        """Read; ``done`` gets an exception of ``take``."""
        failure: BaseException | None = None
        try:
            self._read()
        except BaseException as error:  # noqa: BLE001 - raised to the caller that awaits
            failure = error
        os.close(self._wake)
        os.close(self._source)
        with suppress(RuntimeError):  # the loop is closed: nothing waits for it
            self._loop.call_soon_threadsafe(self._settle, failure)

    def _read(self) -> None:
        selector = select.poll()
        selector.register(self._source, select.POLLIN)
        selector.register(self._wake, select.POLLIN)
        until = None
        while True:
            ready = dict(selector.poll(None if until is None else _IDLE * 1000))
            if until is None and self._finishing.is_set():
                until = time.monotonic() + _LONGEST
                selector.unregister(self._wake)
            if self._source in ready:
                chunk = os.read(self._source, _READ)
                if not chunk:
                    return
                self._take(chunk)
            elif until is not None and self._wake not in ready:
                return
            if until is not None and time.monotonic() > until:
                return

    def _settle(self, failure: BaseException | None) -> None:
        os.close(self._waker)
        self._waker = -1
        if self.done.done():
            return
        if failure is None:
            self.done.set_result(None)
        else:
            self.done.set_exception(failure)

    def finish(self) -> None:
        """Signal that the command has ended."""
        self._finishing.set()
        if self._waker >= 0:
            with suppress(OSError):
                os.write(self._waker, b"x")

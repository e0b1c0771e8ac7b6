"""Signals that end a program from outside: the first one ends it in good order (pi.md 12.3, exit codes)."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

__all__ = ["ending_signals"]

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")

_SECONDS = 10.0
"""How long good order may take, whatever blocks it."""


@contextmanager
def ending_signals(end: Callable[[int], None]) -> Iterator[None]:
    """Call ``end`` on the event loop with the exit code, 128 and the signal's number, when one comes.

    A signal that whoever started us wants ignored stays ignored. Where the end does not come in good order, because
    something blocks the event loop, the process ends without it.
    """
    loop = asyncio.get_running_loop()
    timers: list[threading.Timer] = []

    def on_signal(number: int, _frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(end, 128 + number)
        if not timers:
            timers.append(threading.Timer(_SECONDS, os._exit, [128 + number]))
            timers[0].daemon = True
            timers[0].start()

    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    before = {}
    if threading.current_thread() is threading.main_thread():
        wanted = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, on_signal) for number in wanted}
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)
        for timer in timers:
            timer.cancel()

"""What Ctrl-C and a polite kill do: the first ends the work in good order, the second ends the process.

For front ends, which own the process; a program that uses a session keeps its own handlers.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

__all__ = ["OrderlyEnd", "Stopped", "raising_on_signals"]

_EXIT_CODES = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}
"""What a shell shows for a process that a signal ended: 128 and the signal's number."""

_LAST_SECONDS = 1.0
"""How long cleaning up may take after the second signal."""

_DEAF_SECONDS = 3.0
"""How long a plugin that blocks the event loop may keep the first signal from being heard."""

_ORDERLY_SECONDS = 20.0
"""How long ending in good order may take when nobody sits there who could send a second signal."""


class Stopped(KeyboardInterrupt):
    """A signal asks the process to end. Where code lets Ctrl-C through, this passes too."""

    def __init__(self, exit_code: int) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code


@contextmanager
def raising_on_signals() -> Iterator[None]:
    """Let each signal raise ``Stopped``: there is nothing yet that would have to end in good order."""

    def stop(number: int, _frame: FrameType | None) -> None:
        raise Stopped(_exit_code(number))

    with _handling(stop):
        yield


class OrderlyEnd:
    """A context in which the first signal ends a session's work in good order and the second kills.

    The first aborts the run that is going on, or, where the session is not running, cancels the task that
    entered the context. A first signal that a blocked event loop does not hear, or a polite kill that leads to
    nothing, becomes a second one by itself.

    Attributes:
        exit_code: What to exit with, once a signal has come.
    """

    def __init__(self, abort: Callable[[], bool], interrupted: Callable[[], bool] | None = None) -> None:
        """Make a context.

        Args:
            abort: Stops the run and says whether there was one.
            interrupted: Asked at Ctrl-C, in the signal's handler: whether that has been dealt with and ends nothing.
        """
        self._interrupted = interrupted
        self.exit_code: int | None = None
        self._abort = abort
        self._busy = True
        self._heard = threading.Event()
        self._over = threading.Event()
        self._handlers: Any = None

    def __enter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self._handlers = _handling(self._on_signal)
        self._handlers.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._handlers.__exit__(None, None, None)

    def cleaning_up(self) -> None:
        """From here on the work is over; what remains is good order itself, which a first signal lets finish."""
        self._busy = False
        if self._task is not None and self.exit_code is not None and self._task.cancelling():
            self._task.uncancel()

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGINT and self._interrupted is not None and self._interrupted():
            return
        if self.exit_code is not None:
            _kill(self.exit_code)
        self.exit_code = _exit_code(number)
        self._loop.call_soon_threadsafe(self._begin)
        threading.Thread(target=self._insist, args=[number], daemon=True).start()

    def _insist(self, number: int) -> None:
        """Send the second signal where the first one comes to nothing: who closed the terminal will not."""
        self._over.wait(_DEAF_SECONDS)
        if self._heard.is_set() and (number == signal.SIGINT or self._over.wait(_ORDERLY_SECONDS)):
            return
        if not self._over.is_set() and hasattr(signal, "pthread_kill"):
            signal.pthread_kill(threading.main_thread().ident or 0, number)

    def _begin(self) -> None:
        self._heard.set()
        if self._busy and not self._abort() and self._task is not None:
            self._task.cancel()


def _exit_code(number: int) -> int:
    return _EXIT_CODES[signal.Signals(number).name]


@contextmanager
def _handling(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Handle the signals that end a process, but for those that whoever started it wants ignored (``nohup``).

    In another thread than the main one nothing is handled: Python lets only that one. Children that a plugin forks
    inherit the handlers; there a signal does what it does in any program.
    """
    process, before = os.getpid(), {}

    def handle(number: int, frame: FrameType | None) -> None:
        if os.getpid() == process:
            handler(number, frame)
        elif number == signal.SIGINT:
            signal.default_int_handler(number, frame)
        else:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    for name in _EXIT_CODES if threading.current_thread() is threading.main_thread() else ():
        number = getattr(signal, name, None)  # SIGHUP is POSIX's alone
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, handle)
    try:
        yield
    finally:
        for number, previous in before.items():
            if signal.getsignal(number) == handle:  # else the process is being killed, and nothing is put back
                signal.signal(number, previous)


def _kill(exit_code: int) -> None:
    """End the process soon, whatever hangs: cancelled tasks have a second to end the programs that they started."""
    for name in _EXIT_CODES:
        number = getattr(signal, name, None)
        if number is not None:
            signal.signal(number, signal.SIG_DFL)
    timer = threading.Timer(_LAST_SECONDS, os._exit, [exit_code])
    timer.daemon = True
    timer.start()
    raise Stopped(exit_code)

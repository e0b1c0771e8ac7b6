"""Handling of SIGINT, SIGTERM and SIGHUP: the first signal shuts down cleanly, the second ends the process.

For front ends, which own the process; a program that uses a session keeps its own handlers.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine, Iterator
    from types import FrameType

__all__ = ["OrderlyEnd", "Stopped", "handling_signals", "is_running", "raising_on_signals", "run_until_signal"]

Result = TypeVar("Result")

_EXIT_CODES = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}
"""The exit code that a shell reports for a process that a signal ended: 128 plus the signal's number."""

_LAST_SECONDS = 1.0
"""Time for cleaning up after the second signal."""

_UNHANDLED_SECONDS = 3.0
"""Time after which the first signal is sent again if a blocked event loop has not processed it."""

_ORDERLY_SECONDS = 20.0
"""Time for a clean shutdown after SIGTERM or SIGHUP, when no user can send a second signal."""


class Stopped(KeyboardInterrupt):
    """A signal requests that the process end. As a ``KeyboardInterrupt``, it passes ``except Exception``."""

    def __init__(self, exit_code: int) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code


@contextmanager
def raising_on_signals() -> Iterator[None]:
    """Raise ``Stopped`` on each signal: for start-up, when there is nothing to shut down yet."""

    def stop(number: int, _frame: FrameType | None) -> None:
        raise Stopped(_exit_code(number))

    with handling_signals(stop):
        yield


def run_until_signal(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a command's work in an event loop of its own; the first signal cancels it, the second ends the process.

    With ``asyncio.run`` alone, the exception of a signal would appear in whichever task is running, and a second one
    would leave tasks behind that have not cleaned up. Outside the main thread no signal is handled.

    Returns:
        The result of the work, also if a signal arrived when there was nothing left to cancel.

    Raises:
        Stopped: A signal cancelled the work, and the work has cleaned up.
        RuntimeError: An event loop is running in this thread.
    """
    import asyncio

    if asyncio._get_running_loop() is not None:  # noqa: SLF001 - as ``asyncio.run`` finds out
        work.close()
        raise RuntimeError("run_until_signal() cannot be called from a running event loop")
    end = OrderlyEnd(lambda: False)
    stopped_by: BaseException | None = None

    async def until_signal() -> Result | None:
        nonlocal stopped_by
        end.attach()
        try:
            return await work
        except (asyncio.CancelledError, Exception) as error:
            if end.exit_code is None:
                raise
            stopped_by = error
            return None

    try:
        with end.handling(), asyncio.Runner() as runner:
            result = runner.run(until_signal())
    finally:
        work.close()
    if stopped_by is not None:
        raise Stopped(end.exit_code or 0) from stopped_by
    return result  # type: ignore[return-value]  # it is None only with ``stopped_by``


class OrderlyEnd:
    """A context in which the first signal ends a session's work cleanly and the second ends the process.

    The first signal aborts the current run, or, if the session is not running, cancels the task that entered the
    context. If a blocked event loop does not process the first signal, or a SIGTERM or SIGHUP does not end the process
    in time, the second signal is sent automatically.

    Attributes:
        exit_code: The exit code of the process; None until a signal has arrived.
        skip: Called on a first signal during the clean-up: ends what the clean-up waits for.
    """

    def __init__(self, abort: Callable[[], bool], interrupted: Callable[[], bool] | None = None) -> None:
        """Make a context.

        Args:
            abort: Aborts the run; returns whether there was one.
            interrupted: Called on SIGINT, in the signal handler; returns True if it has handled the signal. The signal
                then has no other effect.
        """
        self._interrupted = interrupted
        self.skip: Callable[[], object] = bool
        self.exit_code: int | None = None
        self._abort = abort
        self._busy = True
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None
        self._received = threading.Event()
        self._exited = threading.Event()
        self._handlers: Any = None

    def __enter__(self) -> Self:
        self.attach()
        self._handlers = self.handling()
        self._handlers.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._handlers.__exit__(None, None, None)

    def attach(self) -> None:
        """Let the signals cancel the current task."""
        import asyncio  # commands that have no session do not need it

        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()

    @contextmanager
    def handling(self) -> Iterator[None]:
        """Handle signals; until a task is attached, they raise ``Stopped``."""
        with handling_signals(self._on_signal):
            try:
                yield
            finally:
                self._exited.set()

    def cleaning_up(self) -> None:
        """Mark the start of the clean-up. From now on a first signal cancels nothing."""
        self._busy = False
        if self._task is not None and self.exit_code is not None and self._task.cancelling():
            self._task.uncancel()

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGINT and self._interrupted is not None and self._interrupted():
            return
        if self._loop is None:
            raise Stopped(_exit_code(number))
        if self.exit_code is not None:
            self._loop.set_exception_handler(lambda *_: None)  # what fails from here on fails because of the end,
            sys.unraisablehook = lambda _: None  # as do coroutines that cannot clean up any more
            _kill(self.exit_code)
        self.exit_code = _exit_code(number)
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._begin)
        threading.Thread(target=self._send_again_if_ignored, args=[number], daemon=True).start()

    def _send_again_if_ignored(self, number: int) -> None:
        """Send the signal again if the first one had no effect: after a terminal is closed, no user can."""
        self._exited.wait(_UNHANDLED_SECONDS)
        if self._received.is_set() and (number == signal.SIGINT or self._exited.wait(_ORDERLY_SECONDS)):
            return
        if not self._exited.is_set() and hasattr(signal, "pthread_kill"):
            signal.pthread_kill(threading.main_thread().ident or 0, number)

    def _begin(self) -> None:
        self._received.set()
        if not self._busy:
            self.skip()
        elif not self._abort() and self._task is not None:
            self._task.cancel()


def _exit_code(number: int) -> int:
    return _EXIT_CODES[signal.Signals(number).name]


@contextmanager
def handling_signals(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Handle the signals that end a process, except signals that its parent has set to be ignored (``nohup``).

    Outside the main thread no signal is handled, because Python does not allow it. Children that a plugin forks inherit
    the handlers; in them the signals have their default effect.
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
        number = getattr(signal, name, None)  # SIGHUP exists only on POSIX
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, handle)
    try:
        yield
    finally:
        for number, previous in before.items():
            if signal.getsignal(number) == handle:  # else the process is being killed, and nothing is restored
                signal.signal(number, previous)


def _kill(exit_code: int) -> None:
    """End the process within a second, even if it hangs; until then cancelled tasks can end their programs."""
    for name in _EXIT_CODES:
        number = getattr(signal, name, None)
        if number is not None:
            signal.signal(number, signal.SIG_DFL)
    timer = threading.Timer(_LAST_SECONDS, os._exit, [exit_code])
    timer.daemon = True
    timer.start()
    raise Stopped(exit_code)


def is_running(pid: int) -> bool:
    """Return whether a process exists; True where that cannot be found out."""
    if os.name != "posix":  # there, signal 0 would end the process
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it belongs to another user
        return True
    return True

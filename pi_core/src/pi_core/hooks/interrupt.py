"""Interrupts Python code that blocks the main thread.

A coroutine can be cancelled, but a plain function can only be interrupted by a signal. The interval timer fires if it
is not re-armed in time, and its handler may raise inside the running code. C code that does not check for signals
cannot be interrupted. Outside the main thread of a POSIX process, and while the program uses ``SIGALRM`` itself, a
watch has no effect.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import atexit
import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pi_hookspecs.deferred import define, field
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

__all__ = ["Interrupted", "Interrupter", "Watch", "limited"]

AGAIN_SECONDS = 1.0
"""Time after which code that swallowed an ``Interrupted`` is interrupted again, and a lost alarm is repeated."""


class Interrupted(BaseException):
    """Raised inside code that blocks for too long; a ``BaseException``, so ``except Exception`` does not catch it."""


@define(eq=False, repr=False)
class Watch(ReprMixin):
    """A registered callback for a blocked main thread.

    Attributes:
        on_stall: Called with the current frame; returns the exception to raise there, or the seconds until the next
            call.
    """

    on_stall: Callable[[FrameType | None], BaseException | float]
    _owner: Interrupter
    due: float = field(default=float("inf"), init=False)

    def rearm(self, seconds: float) -> None:
        """Call ``on_stall`` after this many seconds, unless the watch is re-armed before."""
        self.due = time.monotonic() + seconds
        self._owner.schedule()

    def rearm_elsewhere(self, seconds: float) -> None:
        """As ``rearm``, from another thread than the main one, which must not stop the watch meanwhile."""
        self.due = time.monotonic() + seconds
        self._owner.set_timer()

    def stop(self) -> None:
        """Unregister the watch."""
        self.due = float("inf")
        self._owner.forget(self)


class Interrupter:
    """The process's only user of ``SIGALRM``. Get it with ``current``, which finds it by the signal's handler."""

    def __init__(self) -> None:
        self._watches: list[Watch] = []
        self._before: Any = signal.SIG_DFL
        self._is_scheduling = False

    @classmethod
    def current(cls) -> Interrupter | None:
        """Return the active interrupter, or a new one; None if signals are not available."""
        if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
            return None
        handler = _signal.getsignal(signal.SIGALRM)
        owner = getattr(handler, "__self__", None)
        if isinstance(owner, cls):
            return owner
        unused = handler in (signal.SIG_DFL, signal.SIG_IGN) and not signal.getitimer(signal.ITIMER_REAL)[0]
        return cls() if unused else None

    def watch(self, on_stall: Callable[[FrameType | None], BaseException | float]) -> Watch:
        """Return a watch that is not armed yet."""
        watch = Watch(on_stall, self)
        if not self._in_charge():
            self._before = signal.signal(signal.SIGALRM, self._on_alarm)
            atexit.register(self._give_back)  # the watch of a plugin that never ends can remain armed
        self._watches.append(watch)
        return watch

    def forget(self, watch: Watch) -> None:
        """Remove a watch; the last one restores the signal's handler."""
        if watch in self._watches:
            self._watches.remove(watch)
        self.schedule()

    def schedule(self) -> None:
        """Set the timer for the watch that is due first; without watches, restore the signal's handler.

        An alarm may come meanwhile, and end the last watch. Its handler is restored only after the timer was set, which
        would otherwise end the process by its signal.
        """
        was_scheduling, self._is_scheduling = self._is_scheduling, True
        try:
            self.set_timer()
        finally:
            self._is_scheduling = was_scheduling
        if not self._watches and not self._is_scheduling:
            self._give_back()
            atexit.unregister(self._give_back)

    def set_timer(self) -> None:
        """Set the timer for the watch that is due first."""
        if not self._in_charge():
            return
        due = min((watch.due for watch in self._watches), default=float("inf"))
        if due == float("inf"):
            signal.setitimer(signal.ITIMER_REAL, 0)
            return
        # Repeated, because Python can lose an alarm: if another thread handles the request to look for signals, which
        # it cannot handle, the main thread does not look for them.
        signal.setitimer(signal.ITIMER_REAL, max(due - time.monotonic(), 0.001), AGAIN_SECONDS)

    def _give_back(self) -> None:
        """Stop the timer and restore the handler: an alarm while Python exits would kill the process by its signal."""
        if self._in_charge():
            # An alarm that another thread has not yet taken would end the process under SIG_DFL; SIG_IGN discards it.
            # From here on no alarm is handled, which could set the timer again.
            signal.signal(signal.SIGALRM, signal.SIG_IGN)
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._before)

    def _in_charge(self) -> bool:
        """Whether this is still the signal's handler, because the program may have set another handler."""
        return bool(_signal.getsignal(signal.SIGALRM) == self._on_alarm)  # ``signal`` looks for an enum of each answer

    def _on_alarm(self, _number: int, frame: FrameType | None) -> None:
        verdict: BaseException | float = 0.0
        for watch in [watch for watch in self._watches if watch.due <= time.monotonic()]:
            verdict = watch.on_stall(frame)
            if isinstance(verdict, BaseException):
                watch.due = time.monotonic() + AGAIN_SECONDS
                break
            watch.due = time.monotonic() + verdict
        self.schedule()
        if isinstance(verdict, BaseException):
            raise verdict


@contextmanager
def limited(seconds: float, what: str) -> Iterator[None]:
    """Raise ``Interrupted`` inside the block if it runs longer than ``seconds`` and signals are available."""
    interrupter = Interrupter.current()
    if interrupter is None:
        yield
        return
    watch = interrupter.watch(lambda _frame: Interrupted(f"{what} took longer than {seconds:g} s"))
    try:  # from here on: a process that was suspended can be interrupted before the block begins
        watch.rearm(seconds)
        yield
    finally:
        watch.stop()

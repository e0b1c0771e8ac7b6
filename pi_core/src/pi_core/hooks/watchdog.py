"""Enforces the deadlines of all running hook implementations with one periodic timer.

A timer object per call would cost more than most hooks do. A call is only appended to a list, which
a timer of the event loop checks once a second. A call that awaits is cancelled, and abandoned if it ignores
that. While the loop stands still, no call that awaits can continue: by how much the timer is late does not count.
Code that blocks the event loop is the concern of ``loop_watch.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_core.hooks.running_call import CANCELLATIONS, RunningCall

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from pi_hookspecs import AbortSignal

__all__ = ["Watchdog"]


class Watchdog:
    """Monitors the running calls of one dispatcher.

    Args:
        on_ignored: Called with a call that continues after it was cancelled, before it is abandoned.
        on_waiting: Called with the calls that others wait for, when these have changed.
    """

    def __init__(
        self, on_ignored: Callable[[RunningCall], None], on_waiting: Callable[[list[RunningCall]], None]
    ) -> None:
        self._on_ignored = on_ignored
        self._on_waiting = on_waiting
        self._named: list[RunningCall] = []
        self.waiting_seconds = 2.0
        """After this time, the user learns which call others wait for."""
        self._running: list[RunningCall] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.shortest = 30.0
        """The shortest deadline of all implementations, in seconds; the tick depends on it."""

    def enter(self, running: RunningCall) -> None:
        """Start monitoring a call."""
        self._running.append(running)
        loop = running.call.task.get_loop()
        if self._timer is None or loop is not self._loop:
            self._arm(loop, self._tick_seconds)

    def leave(self, running: RunningCall) -> None:
        """Stop monitoring a call that has ended."""
        if running.ended:
            return
        running.ended = True
        if self._running[-1] is running:
            self._running.pop()
        else:
            self._running.remove(running)

    def excuse(self, running: RunningCall) -> None:
        """Leave out of a call's time what the event loop has just stood still."""
        if self._timer is not None and self._loop is not None:
            running.excuse(self._loop.time() - self._timer.when())

    def abort(self, signal: AbortSignal) -> None:
        """Cancel every call of an aborted run; calls that ignore this are abandoned soon after."""
        self._cancel([each for each in self._running if each.call.signal is signal and not each.ended])

    def skip(self) -> bool:
        """Cancel the calls that others have waited for; return whether there were any."""
        skipped = [each for each in self._running if self._is_waited_for(each)]
        self._cancel(skipped)
        return bool(skipped)

    def _is_waited_for(self, call: RunningCall) -> bool:
        return not call.ended and not call.pauses and call.elapsed > self.waiting_seconds

    def _cancel(self, calls: list[RunningCall]) -> None:
        for each in calls:
            each.cancel("abort")
        if calls and self._timer is not None and self._loop is not None:  # a whole tick to clean up
            self._timer.cancel()
            self._arm(self._loop, self._tick_seconds)

    def end_in_child(self) -> None:
        """Make this process, which an implementation has forked, end as soon as the implementation returns."""
        for each in self._running:
            each.cancellations += 1

    def close(self) -> None:
        """Release the timer; the next call acquires it again."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._named:
            self._named = []
            self._on_waiting([])

    @property
    def _tick_seconds(self) -> float:
        return min(1.0, max(self.shortest / 4, 0.01))

    def _arm(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        self._loop = loop
        self._timer = loop.call_later(seconds, self._tick, loop)

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        self._running = [each for each in self._running if not each.ended]  # abandoned ones
        for each in self._running:
            self.excuse(each)
        self._timer = None
        waiting = [each for each in self._running if self._is_waited_for(each)]
        if waiting != self._named:
            self._named = waiting
            self._on_waiting(waiting)
        ignored = False
        for each in tuple(self._running):
            why = each.reason_to_cancel()
            if why is None:
                continue
            each.cancel(why)
            if each.cancellations == CANCELLATIONS - 1:
                self._on_ignored(each)
            ignored = ignored or each.cancellations > 1
        if self._running or self._named:
            self._arm(loop, self._tick_seconds / 4 if ignored else self._tick_seconds)

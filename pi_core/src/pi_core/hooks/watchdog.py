"""Enforces the deadlines of all running hook implementations with one periodic timer.

A timer object per call would cost more than most hooks do. A call is only appended to a list, which
a timer of the event loop checks once a second. A call that awaits is cancelled, and abandoned if it ignores
that. A call that blocks is interrupted by a signal, whose timer each tick re-arms, so that it fires only while
the event loop does not run.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from pi_core.agent.safe_text import is_library
from pi_core.hooks.containment import clock
from pi_core.hooks.interrupt import Interrupted, Interrupter
from pi_core.hooks.running_call import CANCELLATIONS, RunningCall

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from types import CodeType, FrameType

    from pi_core.hooks.interrupt import Watch
    from pi_hookspecs import AbortSignal

__all__ = ["BLOCKING_SECONDS", "Watchdog"]

BLOCKING_SECONDS = 1.0
"""After this time, an implementation that blocks the event loop is reported."""


class Watchdog:
    """Monitors the running calls of one dispatcher.

    Args:
        inside: Code object of the function that calls implementations with a local named ``running``;
            only below it may the interrupter raise.
        on_stall: Called, with a sentence, when the event loop is blocked outside of implementations.
        on_ignored: Called with a call that continues after it was cancelled, before it is abandoned.
        on_blocking: Called once with a call that blocks the event loop, the seconds so far, and file and line; while it
            blocks if signals are available, else afterwards, without file and line.
    """

    def __init__(
        self,
        calling_code: CodeType,
        on_stall: Callable[[str], None],
        on_ignored: Callable[[RunningCall], None],
        on_blocking: Callable[[RunningCall, float, str | None], None],
    ) -> None:
        self._calling_code = calling_code
        self._own_files = {
            each.co_filename for each in (calling_code, RunningCall.__init__.__code__, Watchdog.enter.__code__)
        }
        self._on_stall = on_stall
        self._on_ignored = on_ignored
        self._on_blocking = on_blocking
        self._running: list[RunningCall] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._watch: Watch | None = None
        self._armed_at = 0.0
        self._reported_call: RunningCall | None = None
        self._stall_suspected = False
        self._stall_reported = False
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

    def abort(self, signal: AbortSignal) -> None:
        """Cancel every call of an aborted run; calls that ignore this are abandoned soon after."""
        aborted = [each for each in self._running if each.call.signal is signal and not each.ended]
        for each in aborted:
            each.cancel("abort")
        if aborted and self._timer is not None and self._loop is not None:  # a whole tick to clean up
            self._timer.cancel()
            self._arm(self._loop, self._tick_seconds)

    def end_in_child(self) -> None:
        """Make this process, which an implementation has forked, end as soon as the implementation returns."""
        for each in self._running:
            each.cancellations += 1

    def close(self) -> None:
        """Release the timer and the signal; the next call acquires them again."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._watch is not None:
            self._watch.stop()
            self._watch = None

    @property
    def _tick_seconds(self) -> float:
        return min(1.0, max(self.shortest / 4, 0.01))

    @property
    def _stall_seconds(self) -> float:
        """Seconds without a tick after which the event loop counts as blocked."""
        return max(self.shortest, 2 * self._tick_seconds)

    def _arm(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        if self._watch is None:
            interrupter = Interrupter.current()
            self._watch = interrupter.watch(self._stalled) if interrupter is not None else None
        if self._watch is not None:
            shortly_after_tick = BLOCKING_SECONDS + self._tick_seconds / 4
            self._watch.rearm(min(self._stall_seconds, shortly_after_tick))
        self._armed_at = clock()
        self._loop = loop
        self._timer = loop.call_later(seconds, self._tick, loop)

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        self._stall_suspected = self._stall_reported = False
        self._running = [each for each in self._running if not each.ended]  # abandoned ones
        if not self._running:
            self.close()
            return
        ignored = False
        for each in tuple(self._running):
            why = each.reason_to_cancel()
            if why is None:
                continue
            each.cancel(why)
            if each.cancellations == CANCELLATIONS - 1:
                self._on_ignored(each)
            ignored = ignored or each.cancellations > 1
        self._arm(loop, self._tick_seconds / 4 if ignored else self._tick_seconds)

    def _stalled(self, frame: FrameType | None) -> BaseException | float:
        """Return the exception to raise in the implementation on the stack, or the seconds until the next check."""
        above, caller_frame = None, frame
        while caller_frame is not None and caller_frame.f_code is not self._calling_code:
            above, caller_frame = caller_frame, caller_frame.f_back
        if caller_frame is None:
            return self._stalled_elsewhere(frame)
        running: RunningCall | None = caller_frame.f_locals.get("running")
        if above is None or above.f_code.co_filename in self._own_files or running is None or running.ended:
            return self._tick_seconds  # pi's own code, before or after the plugin's
        remaining = running.implementation.deadline - running.elapsed
        if remaining > 0:
            return min(remaining, self._report_blocking(running, frame, caller_frame))
        running.blocked = f"blocked the event loop for {running.elapsed:.1f} s in {_location(frame)}"
        return Interrupted(running.blocked)

    def _report_blocking(self, running: RunningCall, frame: FrameType | None, caller_frame: FrameType) -> float:
        """Report a call that blocks, once; return the seconds until the next check."""
        seconds = clock() - running.resumed
        if seconds < BLOCKING_SECONDS:
            return max(BLOCKING_SECONDS - seconds, 0.01)
        if self._reported_call is not running and not _is_importing(frame, caller_frame):
            self._reported_call = running
            with suppress(Exception):  # must not surface in the plugin's code
                self._on_blocking(running, seconds, _line_of(frame, caller_frame))
        return BLOCKING_SECONDS

    def report_blocking_afterwards(self, running: RunningCall) -> None:
        """Report a call that has blocked, if no signal was available to detect it meanwhile."""
        longest = max(getattr(running, "longest", 0.0), clock() - running.resumed)
        if self._watch is None and longest > BLOCKING_SECONDS:
            self._on_blocking(running, longest, None)

    def _stalled_elsewhere(self, frame: FrameType | None) -> float:
        if self._loop is None or not self._loop.is_running():  # nothing is blocked, because the loop has ended
            self.close()
            return float("inf")
        remaining = self._stall_seconds - (clock() - self._armed_at)
        if remaining > 0:
            return min(remaining, BLOCKING_SECONDS)
        if not self._stall_suspected:
            # If the whole process was suspended, the resumed loop ticks before the next check.
            self._stall_suspected = True
            return self._tick_seconds
        if not self._stall_reported:
            self._stall_reported = True
            try:
                self._on_stall(f"the event loop is blocked in {_location(frame)}")
            except Exception:  # noqa: BLE001 - must not surface in the interrupted code
                self._stall_reported = False
        return self.shortest


def _location(frame: FrameType | None) -> str:
    if frame is None:
        return "unknown code"
    return f"{frame.f_code.co_qualname} ({frame.f_code.co_filename}, line {frame.f_lineno})"


def _line_of(frame: FrameType | None, until: FrameType) -> str:
    """Return file and line of the innermost frame above a given frame that belongs neither to Python nor to pi."""
    while frame is not None and frame is not until and is_library(frame.f_code.co_filename):
        frame = frame.f_back
    return "unknown code" if frame in (None, until) else f"{frame.f_code.co_filename}, line {frame.f_lineno}"


def _is_importing(frame: FrameType | None, until: FrameType) -> bool:
    """Whether a frame above a given frame imports a module, which may take long."""
    while frame is not None and frame is not until:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False

"""Keeps the deadlines of running hook implementations, all of them with one tick.

A timer object per call would cost more than most hooks do. A call only enters its start in a list, which
a timer of the event loop looks at once a second. What awaits is cancelled, and abandoned when it ignores
that. What blocks is interrupted by a signal, which the tick re-arms, so that it fires only when the
event loop does not run.
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

__all__ = ["PATIENCE", "Watchdog"]

PATIENCE = 1.0
"""Seconds for which an implementation may block the event loop before that is reported."""


class Watchdog:
    """Looks after the running calls of one dispatcher.

    Args:
        inside: Code object of the function that calls implementations with a local named ``running``;
            only below it may the interrupter raise.
        on_stall: Called, with a sentence, when the event loop is blocked outside of implementations.
        on_ignored: Called with a call that goes on after it was cancelled, before it is abandoned.
        on_blocking: Called once with a call that blocks the event loop, for how many seconds, and where; in the
            middle of it where signals can, else afterwards and without a place.
    """

    def __init__(
        self,
        inside: CodeType,
        on_stall: Callable[[str], None],
        on_ignored: Callable[[RunningCall], None],
        on_blocking: Callable[[RunningCall, float, str | None], None],
    ) -> None:
        self._inside = inside
        self._ours = {each.co_filename for each in (inside, RunningCall.__init__.__code__, Watchdog.enter.__code__)}
        self._on_stall = on_stall
        self._on_ignored = on_ignored
        self._on_blocking = on_blocking
        self._running: list[RunningCall] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._watch: Watch | None = None
        self._armed_at = 0.0
        self._noticed: RunningCall | None = None
        self._suspected = False
        self._reported = False
        self.shortest = 30.0
        """The shortest deadline in force, in seconds; the tick follows it."""

    def enter(self, running: RunningCall) -> None:
        """Look after a call from now on."""
        self._running.append(running)
        loop = running.call.task.get_loop()
        if self._timer is None or loop is not self._loop:
            self._arm(loop, self._tick_seconds)

    def leave(self, running: RunningCall) -> None:
        """The call is over, however it ended."""
        if running.over:
            return
        running.over = True
        if self._running[-1] is running:
            self._running.pop()
        else:
            self._running.remove(running)

    def abort(self, signal: AbortSignal) -> None:
        """End every call of the run that was aborted; one that ignores it is abandoned soon after."""
        aborted = [each for each in self._running if each.call.signal is signal and not each.over]
        for each in aborted:
            each.cancel("abort")
        if aborted and self._timer is not None and self._loop is not None:  # a whole tick to clean up
            self._timer.cancel()
            self._arm(self._loop, self._tick_seconds)

    def end_in_child(self) -> None:
        """Have this process, a copy that an implementation has forked, end as soon as that returns."""
        for each in self._running:
            each.marks += 1

    def close(self) -> None:
        """Give back timer and signal; the next call takes them again."""
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
        """After how long without a tick the event loop counts as blocked."""
        return max(self.shortest, 2 * self._tick_seconds)

    def _arm(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        if self._watch is None:
            interrupter = Interrupter.current()
            self._watch = interrupter.watch(self._stalled) if interrupter is not None else None
        if self._watch is not None:
            self._watch.rearm(min(self._stall_seconds, PATIENCE + self._tick_seconds / 4))  # shortly after the tick
        self._armed_at = clock()
        self._loop = loop
        self._timer = loop.call_later(seconds, self._tick, loop)

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        self._suspected = self._reported = False
        self._running = [each for each in self._running if not each.over]  # abandoned ones
        if not self._running:
            self.close()
            return
        ignored = False
        for each in tuple(self._running):
            why = each.reason_to_cancel()
            if why is None:
                continue
            each.cancel(why)
            if each.marks == CANCELLATIONS - 1:
                self._on_ignored(each)
            ignored = ignored or each.marks > 1
        self._arm(loop, self._tick_seconds / 4 if ignored else self._tick_seconds)

    def _stalled(self, frame: FrameType | None) -> BaseException | float:
        """Return what to raise in the implementation on the stack, or when to ask again."""
        above, place = None, frame
        while place is not None and place.f_code is not self._inside:
            above, place = place, place.f_back
        if place is None:
            return self._stalled_elsewhere(frame)
        running: RunningCall | None = place.f_locals.get("running")
        if above is None or above.f_code.co_filename in self._ours or running is None or running.over:
            return self._tick_seconds  # our own code, before or after the plugin's
        left = running.implementation.deadline - running.elapsed
        if left > 0:
            return min(left, self._notice(running, frame, place))
        running.blocked = f"blocked the event loop for {running.elapsed:.1f} s in {_where(frame)}"
        return Interrupted(running.blocked)

    def _notice(self, running: RunningCall, frame: FrameType | None, place: FrameType) -> float:
        """Report a call that blocks, once; returns when to look again."""
        seconds = clock() - running.resumed
        if seconds < PATIENCE:
            return max(PATIENCE - seconds, 0.01)
        if self._noticed is not running and not _is_importing(frame, place):
            self._noticed = running
            with suppress(Exception):  # must not surface in the plugin's code
                self._on_blocking(running, seconds, _line_of(frame, place))
        return PATIENCE

    def notice_afterwards(self, running: RunningCall) -> None:
        """Report a call that has blocked, where no signal could look at it meanwhile."""
        longest = max(getattr(running, "longest", 0.0), clock() - running.resumed)
        if self._watch is None and longest > PATIENCE:
            self._on_blocking(running, longest, None)

    def _stalled_elsewhere(self, frame: FrameType | None) -> float:
        if self._loop is None or not self._loop.is_running():  # nothing waits: the program has left the loop behind
            self.close()
            return float("inf")
        left = self._stall_seconds - (clock() - self._armed_at)
        if left > 0:
            return min(left, PATIENCE)
        if not self._suspected:
            # It may be the whole process that slept, stopped or out of turn: then the loop, awake again, ticks first.
            self._suspected = True
            return self._tick_seconds
        if not self._reported:
            self._reported = True
            try:
                self._on_stall(f"the event loop stands still in {_where(frame)}")
            except Exception:  # noqa: BLE001 - must not surface in whatever code stands on the stack
                self._reported = False
        return self.shortest


def _where(frame: FrameType | None) -> str:
    if frame is None:
        return "unknown code"
    return f"{frame.f_code.co_qualname} ({frame.f_code.co_filename}, line {frame.f_lineno})"


def _line_of(frame: FrameType | None, until: FrameType) -> str:
    """Return file and line of the innermost frame above another one that is neither Python's nor pi's."""
    while frame is not None and frame is not until and is_library(frame.f_code.co_filename):
        frame = frame.f_back
    return "unknown code" if frame in (None, until) else f"{frame.f_code.co_filename}, line {frame.f_lineno}"


def _is_importing(frame: FrameType | None, until: FrameType) -> bool:
    """Whether one of the frames above another one imports a module, which takes as long as it takes."""
    while frame is not None and frame is not until:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False

"""Keeps the deadlines of running hook implementations, all of them with one tick.

A timer object per call would cost more than most hooks do. A call only enters its start in a list, which
a timer of the event loop looks at once a second. What awaits is cancelled, and abandoned when it ignores
that. What blocks is broken into by the interrupter, which the tick re-arms, so that it fires only when the
event loop does not run.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal

from pi_core.hooks.interrupt import Interrupted, Interrupter
from pi_hookspecs import ABORT_GRACE

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

    from pi_core.hooks.interrupt import Watch
    from pi_core.hooks.records import HookCall, HookImplementation
    from pi_hookspecs import AbortSignal

__all__ = ["RunningCall", "Watchdog", "clock", "current_call"]

clock = time.perf_counter

current_call: ContextVar[RunningCall | None] = ContextVar("current_call", default=None)
"""The hook call that the present task works for; dialogs stop its clock."""


CANCELLATIONS = 3
"""After the last of so many, a tick apart, a call that goes on all the same is abandoned."""


class RunningCall:
    """One call of an implementation, from its start to its end.

    Attributes:
        answer: What came of an implementation that is asynchronous; only once it has ended.
        requests: Cancellations of the task that were requested before the call; cleaning up calls hooks, too.
        marks: Cancellations of the task that this call's watchdog requested since.
        others_since: Ticks that have passed since something else requested one.
        parent: The call inside which this one was made, in the same task or in one that it started.
        inner: The latest call that was made inside this one in the same task.
        over: It has ended.
        blocked: Where it blocked the event loop, in words, once it was interrupted.
        why: What the watchdog cancels it for.
    """

    __slots__ = (
        "answer",
        "blocked",
        "call",
        "implementation",
        "inner",
        "marks",
        "others_since",
        "over",
        "parent",
        "paused_at",
        "pauses",
        "requests",
        "started",
        "why",
    )

    def __init__(self, call: HookCall, implementation: HookImplementation) -> None:
        self.answer: Any
        self.call = call
        self.implementation = implementation
        self.requests = call.task.cancelling()
        parent = current_call.get()
        self.parent = parent if parent is not None and not parent.over else None
        self.inner: RunningCall | None = None
        if self.parent is not None and self.parent.task is call.task:
            self.parent.inner = self
        self.over: bool = False
        self.blocked: str | None = None
        self.marks = 0
        self.others_since = 0
        self.pauses = 0
        self.why: Literal["deadline", "abort"] = "deadline"
        self.started = clock()

    @property
    def task(self) -> asyncio.Task[Any]:
        """The task in which it runs."""
        return self.call.task

    @property
    def elapsed(self) -> float:
        """Seconds of work, without the time that a dialog was open."""
        return (self.paused_at if self.pauses else clock()) - self.started

    @property
    def late(self) -> bool:
        """Whether it has worked for longer than it may."""
        return self.elapsed > self.implementation.deadline

    @property
    def outlives_abort(self) -> bool:
        """Whether it began after its run was aborted, and has had the time that everything gets to settle."""
        signal = self.call.signal
        return signal is not None and signal.aborted and self.elapsed > ABORT_GRACE

    @property
    def cancelled_by_others(self) -> bool:
        """Whether something else requested that the task be cancelled, since the call began."""
        return self.task.cancelling() > self.requests + self.marks

    def is_given_up(self) -> bool:
        """Whether it has ignored so many cancellations that it is to be abandoned."""
        return self.marks + self.cancelled_by_others >= CANCELLATIONS

    def pause(self) -> None:
        """Stop the clock, and those of the calls around this one; pauses nest."""
        if not self.pauses:
            self.paused_at = clock()
        self.pauses += 1
        if self.parent is not None:
            self.parent.pause()

    def resume(self) -> None:
        """Let the clocks run again."""
        self.pauses -= 1
        if not self.pauses:
            self.started += clock() - self.paused_at
        if self.parent is not None:
            self.parent.resume()

    def reason_to_cancel(self) -> Literal["deadline", "abort"] | None:
        """Return why it is to be cancelled at this tick, once more if need be; None when it may go on."""
        if self.marks and self.why == "abort":
            return "abort"
        if self.cancelled_by_others:
            self.others_since += 1
            if self.others_since > 1:
                return "abort"
        if self.pauses:
            return None
        if self.late:
            return "deadline"
        return "abort" if self.outlives_abort else None

    def cancel(self, why: Literal["deadline", "abort"]) -> None:
        """Cancel the task on behalf of this call."""
        self.why = why
        self.marks += 1
        self.task.cancel(f"{self.implementation.hook}: {why}")

    def abandon_inner(self) -> None:
        """End the calls inside this one, which was abandoned together with them: they never return."""
        inner = self.inner
        while inner is not None and not inner.over:
            inner.over = True
            for _ in range(inner.marks):
                self.task.uncancel()
            inner = inner.inner

    async def take_back(self) -> bool:
        """Withdraw our cancellations; True when something else requested one as well."""
        if self.marks:
            # One that was requested while the task ran, by a plugin that aborts, comes at the next await: here.
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0)
        others = self.cancelled_by_others
        for _ in range(self.marks):
            self.task.uncancel()
        return others


class Watchdog:
    """Looks after the running calls of one dispatcher.

    Args:
        inside: Code object of the function that calls implementations with a local named ``running``;
            only below it may the interrupter raise.
        on_stall: Called, with words, when the loop stands still and no implementation is to blame.
        on_ignored: Called with a call that goes on after it was cancelled, before it is abandoned.
    """

    def __init__(
        self, inside: CodeType, on_stall: Callable[[str], None], on_ignored: Callable[[RunningCall], None]
    ) -> None:
        self._inside = inside
        self._ours = {inside.co_filename, RunningCall.__init__.__code__.co_filename}
        self._on_stall = on_stall
        self._on_ignored = on_ignored
        self._running: list[RunningCall] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._watch: Watch | None = None
        self._suspected = False
        self._told = False
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

    def _arm(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        if self._watch is None:
            interrupter = Interrupter.current()
            self._watch = interrupter.watch(self._stalled) if interrupter is not None else None
        if self._watch is not None:
            self._watch.rearm(max(self.shortest, 2 * self._tick_seconds))
        self._loop = loop
        self._timer = loop.call_later(seconds, self._tick, loop)

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        self._suspected = self._told = False
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
            return left
        running.blocked = f"blocked the event loop for {running.elapsed:.1f} s in {_where(frame)}"
        return Interrupted(running.blocked)

    def _stalled_elsewhere(self, frame: FrameType | None) -> float:
        if self._loop is None or not self._loop.is_running():  # nothing waits: the program has left the loop behind
            self.close()
            return float("inf")
        if not self._suspected:
            # It may be the whole process that slept, stopped or out of turn: then the loop, awake again, ticks first.
            self._suspected = True
            return self._tick_seconds
        if not self._told:
            self._told = True
            try:
                self._on_stall(f"the event loop stands still in {_where(frame)}")
            except Exception:  # noqa: BLE001 - must not surface in whatever code stands on the stack
                self._told = False
        return self.shortest


def _where(frame: FrameType | None) -> str:
    if frame is None:
        return "code that cannot be told"
    return f"{frame.f_code.co_qualname} ({frame.f_code.co_filename}, line {frame.f_lineno})"

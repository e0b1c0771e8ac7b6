"""Keeps the deadlines of running hook implementations, all of them with one tick.

A timer object per call would cost more than most hooks do. A call only leaves its start in a list; once
a second somebody looks at the list. What awaits is cancelled; what blocks is broken into by the
interrupter, which the tick re-arms, so that it fires only when the loop stands still.
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
    from pi_hookspecs import AbortSignal

__all__ = ["RunningCall", "Watchdog", "current_call"]

clock = time.perf_counter

current_call: ContextVar[RunningCall | None] = ContextVar("current_call", default=None)
"""The hook call that the present task works for; dialogs stop its clock."""


class RunningCall:
    """One implementation at work.

    Attributes:
        marks: Cancellations of the task that are ours.
        requests: Cancellations that the task had been asked for before; cleaning up, it calls hooks too.
        parent: The call inside which this one was made, in the same task or one that it started.
        over: It has ended.
        blocked: Where it held up the event loop, in words, once it was broken into.
    """

    __slots__ = (
        "blocked",
        "deadline",
        "marks",
        "name",
        "over",
        "parent",
        "paused_at",
        "pauses",
        "requests",
        "signal",
        "started",
        "task",
        "why",
    )

    def __init__(self, name: str, deadline: float, signal: AbortSignal | None, task: asyncio.Task[Any]) -> None:
        self.name = name
        self.deadline = deadline
        self.signal = signal
        self.task = task
        self.requests = task.cancelling()
        parent = current_call.get()
        self.parent = parent if parent is not None and not parent.over else None
        self.over: bool = False
        self.blocked: str | None = None
        self.marks = 0
        self.pauses = 0
        self.paused_at = 0.0
        self.why: Literal["deadline", "abort"] = "deadline"
        self.started = clock()

    @property
    def elapsed(self) -> float:
        """Seconds of work, without the time that a dialog was open."""
        return (self.paused_at if self.pauses else clock()) - self.started

    @property
    def late(self) -> bool:
        """Whether it has worked for longer than it may."""
        return self.elapsed > self.deadline

    @property
    def outlives_abort(self) -> bool:
        """Whether it began after its run was aborted, and has had the time that everybody gets to settle."""
        return self.signal is not None and self.signal.aborted and self.elapsed > ABORT_GRACE

    @property
    def cancelled_by_others(self) -> bool:
        """Whether somebody else wants the task cancelled, since the call began."""
        return self.task.cancelling() > self.requests + self.marks

    def disturbed(self) -> bool:
        """Whether a call that has just answered was cancelled meanwhile, or is late; quick, for it is asked always."""
        return (
            self.marks > 0
            or self.task.cancelling() > self.requests
            or (clock() - self.started > self.deadline and self.late)
        )

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

    def cancel(self, why: Literal["deadline", "abort"]) -> None:
        """Cancel the task on behalf of this call."""
        self.why = why
        self.marks += 1
        self.task.cancel(f"{self.name}: {why}")

    async def take_back(self) -> bool:
        """Withdraw our cancellations; True when somebody else wants the task cancelled as well."""
        if self.marks:
            # One that was asked for while the task ran, by a plugin that aborts, comes at the next await: here.
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
        on_stall: Told, in words, when the loop stands still and no implementation is to blame.
    """

    def __init__(self, inside: CodeType, on_stall: Callable[[str], None]) -> None:
        self._inside = inside
        self._ours = {inside.co_filename, RunningCall.__init__.__code__.co_filename}
        self._on_stall = on_stall
        self._running: list[RunningCall] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._watch: Watch | None = None
        self._suspected = False
        self._told = False
        self.shortest = 30.0
        """The shortest deadline in force, in seconds; the tick follows it."""

    def enter(self, call: RunningCall) -> None:
        """Look after a call from now on."""
        self._running.append(call)
        if self._timer is None or call.task.get_loop() is not self._loop:
            self._arm(call.task.get_loop())

    def leave(self, call: RunningCall) -> None:
        """The call is over, however it ended."""
        if call.over:
            return
        call.over = True
        if self._running[-1] is call:
            self._running.pop()
        else:
            self._running.remove(call)

    def abort(self, signal: AbortSignal) -> None:
        """End every call of the run that was aborted."""
        for call in self._running:
            if call.signal is signal:
                call.cancel("abort")

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

    def _arm(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._watch is None:
            interrupter = Interrupter.current()
            self._watch = interrupter.watch(self._stalled) if interrupter is not None else None
        if self._watch is not None:
            self._watch.rearm(max(self.shortest, 2 * self._tick_seconds))
        self._loop = loop
        self._timer = loop.call_later(self._tick_seconds, self._tick, loop)

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        self._suspected = self._told = False
        if not self._running:
            self.close()
            return
        for call in self._running:
            if call.pauses:
                continue
            if call.late:
                call.cancel("deadline")
            elif call.outlives_abort:
                call.cancel("abort")
        self._arm(loop)

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
        left = running.deadline - running.elapsed
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

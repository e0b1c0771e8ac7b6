"""A running call of a hook implementation: its clock and its cancellations."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal

from pi_core.hooks.containment import clock
from pi_hookspecs import ABORT_GRACE

if TYPE_CHECKING:
    from pi_core.hooks.records import HookCall, HookImplementation

__all__ = ["CANCELLATIONS", "MOST_EXCUSED", "RunningCall", "current_call", "is_in_hook"]

current_call: ContextVar[RunningCall | None] = ContextVar("current_call", default=None)
"""The hook call in which the current task runs; dialogs pause its clock."""


def is_in_hook() -> bool:
    """Whether a hook that has not ended called this task or started it; it may wait for the task."""
    call = current_call.get()
    return call is not None and not call.ended


CANCELLATIONS = 3
"""A call that continues after this many cancellations, one per tick, is abandoned."""

MOST_EXCUSED = 30.0
"""Seconds of a standing event loop that are left out of one call's time; the call itself may hold the loop up.

It is more than code may block the loop by default until it is interrupted.
"""


class RunningCall:
    """One call of an implementation, from its start to its end.

    Attributes:
        answer: The result of an asynchronous implementation; set only after the implementation has ended.
        event: What the implementation is called with.
        excused: Seconds in which the event loop stood still, which do not count.
        requests: The number of cancellations of the task requested before the call, which may be part of a clean-up.
        cancellations: The number of cancellations of the task that the watchdog has requested for this call.
        ticks_since_foreign: Ticks since something other than the watchdog requested a cancellation.
        parent: The call inside which this call was made, in the same task or in a task that it started.
        inner: The latest call that was made inside this call in the same task.
        ended: Whether it has ended.
        blocked: Where it blocked the event loop, as text; set if it was interrupted.
        why: Why the watchdog cancels it.
    """

    __slots__ = (
        "answer",
        "blocked",
        "call",
        "cancellations",
        "ended",
        "event",
        "excused",
        "implementation",
        "inner",
        "parent",
        "paused_at",
        "pauses",
        "requests",
        "started",
        "ticks_since_foreign",
        "why",
    )

    def __init__(self, call: HookCall, implementation: HookImplementation, event: Any = None) -> None:
        self.answer: Any
        self.event = event
        self.call = call
        self.implementation = implementation
        self.requests = call.task.cancelling()
        parent = current_call.get()
        self.parent = parent if parent is not None and not parent.ended else None
        self.inner: RunningCall | None = None
        if self.parent is not None and self.parent.task is call.task:
            self.parent.inner = self
        self.ended: bool = False
        self.blocked: str | None = None
        self.cancellations = 0
        self.ticks_since_foreign = 0
        self.pauses = 0
        self.excused = 0.0
        self.why: Literal["deadline", "abort"] = "deadline"
        self.started = clock()

    @property
    def task(self) -> asyncio.Task[Any]:
        """The task in which it runs."""
        return self.call.task

    @property
    def elapsed(self) -> float:
        """Seconds since its start, without those in which a dialog was open or others held the event loop up."""
        return (self.paused_at if self.pauses else clock()) - self.started

    @property
    def late(self) -> bool:
        """Whether its deadline has passed."""
        return self.elapsed > self.implementation.deadline

    @property
    def exceeds_abort_grace(self) -> bool:
        """Whether its run was aborted and the call has exceeded the grace period of an abort."""
        signal = self.call.signal
        return signal is not None and signal.aborted and self.elapsed > ABORT_GRACE

    @property
    def cancelled_elsewhere(self) -> bool:
        """Whether something other than the watchdog has requested a cancellation of the task during the call."""
        return self.task.cancelling() > self.requests + self.cancellations

    def should_abandon(self) -> bool:
        """Whether the call has ignored so many cancellations that it must be abandoned."""
        return self.cancellations + self.cancelled_elsewhere >= CANCELLATIONS

    def pause(self) -> None:
        """Stop the clock of this call and of its parents; pauses nest."""
        if not self.pauses:
            self.paused_at = clock()
        self.pauses += 1
        if self.parent is not None:
            self.parent.pause()

    def resume(self) -> None:
        """Resume the clocks."""
        self.pauses -= 1
        if not self.pauses:
            self.started += clock() - self.paused_at
        if self.parent is not None:
            self.parent.resume()

    def excuse(self, seconds: float) -> None:
        """Leave out time in which the event loop stood still: another plugin's code, or a busy computer, held it up."""
        if not self.pauses:
            excused = max(0.0, min(seconds, MOST_EXCUSED - self.excused, self.elapsed))
            self.excused += excused
            self.started += excused

    def reason_to_cancel(self) -> Literal["deadline", "abort"] | None:
        """Return why the call must be cancelled at this tick, possibly again; None if it may continue."""
        if self.cancellations and self.why == "abort":
            return "abort"
        if self.cancelled_elsewhere:
            self.ticks_since_foreign += 1
            if self.ticks_since_foreign > 1:
                return "abort"
        if self.pauses:
            return None
        if self.late:
            return "deadline"
        return "abort" if self.exceeds_abort_grace else None

    def cancel(self, why: Literal["deadline", "abort"]) -> None:
        """Cancel the task on behalf of this call."""
        self.why = why
        self.cancellations += 1
        self.task.cancel(f"{self.implementation.hook}: {why}")

    def abandon_inner(self) -> None:
        """Mark the calls inside this abandoned call as ended, because they never return."""
        inner = self.inner
        while inner is not None and not inner.ended:
            inner.ended = True
            for _ in range(inner.cancellations):
                self.task.uncancel()
            inner = inner.inner

    async def withdraw_cancellations(self) -> bool:
        """Withdraw the watchdog's cancellations; return whether something else also requested a cancellation."""
        if self.cancellations:
            # A cancellation that a plugin caused by an abort while the task ran is raised at the next await, which is
            # here.
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0)
        elsewhere = self.cancelled_elsewhere
        for _ in range(self.cancellations):
            self.task.uncancel()
        return elsewhere

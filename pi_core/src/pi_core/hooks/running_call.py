"""One call of a hook implementation while it runs: how long it has worked, and what cancels it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal

from pi_core.hooks.containment import clock
from pi_hookspecs import ABORT_GRACE

if TYPE_CHECKING:
    from pi_core.hooks.records import HookCall, HookImplementation

__all__ = ["CANCELLATIONS", "RunningCall", "current_call"]

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
        resumed: When its code began to run last; it has run ever since, or waits for an event of the loop.
        longest: Seconds of its longest step so far, from running to waiting; only where it has suspended.
        blocked: Where it blocked the event loop, in words, once it was interrupted.
        why: What the watchdog cancels it for.
    """

    __slots__ = (
        "answer",
        "blocked",
        "call",
        "implementation",
        "inner",
        "longest",
        "marks",
        "others_since",
        "over",
        "parent",
        "paused_at",
        "pauses",
        "requests",
        "resumed",
        "started",
        "why",
    )

    def __init__(self, call: HookCall, implementation: HookImplementation) -> None:
        self.answer: Any
        self.longest: float
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
        self.started = self.resumed = clock()

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

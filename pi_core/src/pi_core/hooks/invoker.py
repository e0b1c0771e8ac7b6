"""Calls one implementation at a time: what its answer, its exception or its silence means for it and for the hook."""

from __future__ import annotations

import asyncio
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Literal

from pi_core.base.process.forks import exit_if_child
from pi_core.hooks.containment import Abandoned, Suspended, awaiting, clock
from pi_core.hooks.records import HookRefused
from pi_core.hooks.running_call import RunningCall, current_call
from pi_core.hooks.watchdog import PATIENCE, Watchdog

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_core.hooks.records import HookCall, HookImplementation
    from pi_core.hooks.reports import HookFailure, HookTrace

__all__ = ["Invoker"]

QUARANTINE_AFTER = 3
"""Failures in a row after which an implementation is not called any more."""


class Invoker:
    """Calls the implementations of one dispatcher.

    Args:
        report: Called with every failure.
        quarantine: Takes an implementation out of its hook, or with ``whole_plugin`` everything of its plugin.
        trace: Called with every call.

    Attributes:
        watchdog: Ends the calls that take too long.
        last: The implementation that was called last.
        suspect: The one in which a cancellation of the whole task arrived last.
    """

    def __init__(
        self,
        report: Callable[[HookFailure], None],
        quarantine: Callable[..., None],
        trace: Callable[[HookTrace], None] | None,
    ) -> None:
        self._report = report
        self._quarantine = quarantine
        self.trace = trace
        self.last: HookImplementation | None = None
        self.suspect: HookImplementation | None = None
        self.watchdog = Watchdog(Invoker.invoke.__code__, self._stalled, self._ignored, self._blocking)

    async def invoke(self, call: HookCall, implementation: HookImplementation, event: Any) -> Any:
        """Return an implementation's answer, of the right type; None when there is none or it failed.

        Raises:
            HookRefused: It failed, and failures refuse.
        """
        hook = call.hook
        if implementation.quarantined:
            return _no_answer(call, implementation)
        running = RunningCall(call, implementation)
        token = current_call.set(running)
        self.watchdog.enter(running)
        self.last = implementation
        suspended = problem = None
        try:
            answer = implementation.call(event, call.ctx)
            if type(answer) is CoroutineType or (answer is not None and hasattr(answer, "__await__")):
                waiting = awaiting(running, answer)
                for waits_for in waiting:
                    await (suspended := Suspended(waiting, waits_for, running))
                answer = running.answer
            if answer is not None and hook.asks:
                problem = hook.problem(answer, event)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) or (suspended is not None and suspended.closing):
                raise
            # A plugin may raise anything, and describing it runs the plugin's code: under the watch, therefore.
            from pi_core.hooks.descriptions import describe

            description = None if running.marks else describe(error, implementation.function, hook, event)
            await self._failed(running, error, description)
            return _no_answer(call, implementation)
        finally:
            self.watchdog.leave(running)
            current_call.reset(token)
        took = clock() - running.started
        disturbed = running.marks or call.task.cancelling() > running.requests
        if (disturbed or took > PATIENCE or took > implementation.deadline) and not await self._counts(running):
            return _no_answer(call, implementation)
        if problem is not None:
            self._blame(running, "answer", problem)
            return _no_answer(call, implementation)
        implementation.failures = 0
        if self.trace is not None:
            self._trace(running, changed=answer is not None and hook.asks)
        return answer

    async def _failed(self, running: RunningCall, error: BaseException, description: tuple[str, str] | None) -> None:
        """Find out what an exception means; raises when the task is cancelled by others, too."""
        exit_if_child(error)
        self.watchdog.leave(running)
        implementation = running.implementation
        cancelled = isinstance(error, asyncio.CancelledError)
        if isinstance(error, Abandoned):
            running.abandon_inner()
            self._quarantine(implementation)
            message = "it ignored every cancellation (a bare except catches them), so pi no longer waits for it"
            self._blame(running, "deadline", message)
        elif running.blocked or description is None:
            self._overran(running)
        elif not (cancelled and running.cancelled_by_others):
            self._blame(running, "raised", *description)
        if await running.take_back():
            self.suspect = implementation
            raise error if cancelled else asyncio.CancelledError

    async def _counts(self, running: RunningCall) -> bool:
        """Return whether the answer counts of a call that was cancelled, or took long, and answered all the same.

        Raises:
            CancelledError: It swallowed a cancellation that was meant for the whole task.
        """
        exit_if_child()
        self.watchdog.notice_afterwards(running)
        if await running.take_back():
            self.suspect = running.implementation
            raise asyncio.CancelledError
        if self._overran(running):
            return False
        return not (running.marks and running.call.hook.refuses)

    def _overran(self, running: RunningCall) -> bool:
        """Report a call that blocked the event loop or missed its deadline; False when it did neither."""
        if running.blocked is not None:
            # It was interrupted in the middle of something: no part of the plugin can be relied on now.
            self._quarantine(running.implementation, whole_plugin=True)
            self._blame(running, "blocked", running.blocked)
            return True
        if running.why == "abort" or not (running.marks or running.late):  # stopping at an abort is no fault
            return False
        self._blame(running, "deadline", f"no answer within {running.implementation.deadline:g} s")
        return True

    def _blame(
        self,
        running: RunningCall,
        kind: Literal["raised", "deadline", "blocked", "answer"],
        message: str,
        stack: str | None = None,
    ) -> None:
        implementation = running.implementation
        implementation.failures += 1
        if implementation.quarantined or implementation.failures >= QUARANTINE_AFTER:
            self._quarantine(implementation)
        self.report_failure(
            hook=implementation.hook,
            plugin=implementation.plugin,
            kind=kind,
            message=message,
            milliseconds=running.elapsed * 1000,
            quarantined=implementation.quarantined,
            refuses=implementation.quarantined and running.call.hook.refuses,
            stack=stack,
        )
        self._trace(running, changed=False)

    def _ignored(self, running: RunningCall) -> None:
        hook, plugin = running.implementation.hook, running.implementation.plugin
        message = "it was cancelled and goes on; if it ignores the next cancellation, too, pi stops waiting for it"
        self.report_failure(hook=hook, plugin=plugin, kind="ignored", message=message)

    def _blocking(self, running: RunningCall, seconds: float, where: str | None) -> None:
        implementation = running.implementation
        if where is None:
            message = f"blocked everything else for {seconds:.1f} s in {implementation.hook}"
        else:
            until = f"it is interrupted after {implementation.deadline:g} s"
            message = f"has blocked everything else for {seconds:.0f} s in {implementation.hook} ({where}); {until}"
        self.report_failure(hook=implementation.hook, plugin=implementation.plugin, kind="blocking", message=message)

    def _stalled(self, message: str) -> None:
        self.report_failure(hook="(none)", plugin="(unknown)", kind="stall", message=message)

    def report_failure(self, **what: Any) -> None:
        """Report a failure with these fields of ``HookFailure``."""
        from pi_core.hooks.reports import HookFailure  # most runs have none

        self._report(HookFailure(**what))

    def _trace(self, running: RunningCall, *, changed: bool) -> None:
        if self.trace is not None:
            from pi_core.hooks.reports import HookTrace

            hook, plugin = running.implementation.hook, running.implementation.plugin
            self.trace(HookTrace(hook=hook, plugin=plugin, milliseconds=running.elapsed * 1000, changed=changed))


def _no_answer(call: HookCall, implementation: HookImplementation) -> None:
    if call.hook.refuses:
        raise HookRefused(_refusal(call, implementation))


def _refusal(call: HookCall, implementation: HookImplementation) -> str:
    if (signal := call.signal) is not None and signal.aborted:
        return signal.reason or "Operation aborted"
    plugin, hook = implementation.plugin, call.hook.name
    if implementation.defect:
        what = f"plugin {plugin!r} implements {hook} and cannot be asked: {implementation.defect}"
    else:
        what = (
            f"plugin {plugin!r} {'was taken out after failing' if implementation.quarantined else 'failed'} in {hook}"
        )
    return f"Extension failed, blocking execution: {what}. Disable it with --disable {plugin}"

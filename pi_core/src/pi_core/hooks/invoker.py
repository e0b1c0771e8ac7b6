"""Calls hook implementations and handles their answers, exceptions, deadlines and quarantine."""

from __future__ import annotations

import asyncio
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Literal

from pi_core.agent.safe_text import function_location, is_interrupt
from pi_core.base.process.forks import exit_if_child
from pi_core.hooks.containment import Abandoned, Suspended, awaiting, clock
from pi_core.hooks.records import HookRefused
from pi_core.hooks.running_call import RunningCall, current_call
from pi_core.hooks.watchdog import Watchdog

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_core.hooks.observers import Observers
    from pi_core.hooks.records import HookCall, HookImplementation
    from pi_core.hooks.reports import HookFailure
    from pi_hookspecs.traces import HookOutcome, HookTrace

__all__ = ["Invoker"]

QUARANTINE_AFTER = 3
"""Consecutive failures after which an implementation is no longer called."""


class Invoker:
    """Calls the implementations of one dispatcher.

    Args:
        report: Called with every failure.
        quarantine: Removes an implementation from its hook, or, with ``whole_plugin``, all implementations of its
            plugin.
        trace: Called after every call.

    Attributes:
        activations: Plugin, time, seconds and failure of each ``activate`` since the session's start or last reload.
        observers: Functions of plugins that are called after every call; None until one is added.
        watchdog: Cancels the calls that miss their deadlines.
        last: The implementation that was called last.
        on_waiting: Called with plugin and hook of the calls that others have waited for, when these have changed.
        suspect: The implementation in which something other than the watchdog last cancelled the task.
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
        self.activations: list[tuple[str, float, float, bool]] = []
        self.observers: Observers | None = None
        self.last: HookImplementation | None = None
        self.suspect: HookImplementation | None = None
        self.on_waiting: Callable[[list[tuple[str, str]]], None] | None = None
        self.watchdog = Watchdog(self._report_ignored_cancellation, self._show_waiting)

    async def invoke(self, call: HookCall, implementation: HookImplementation, event: Any) -> Any:
        """Call an implementation and return its answer; None if it gave no answer or failed.

        Raises:
            HookRefused: The implementation failed, and failures of the hook refuse.
        """
        hook = call.hook
        if implementation.quarantined:
            return _no_answer(call, implementation)
        running = RunningCall(call, implementation, event)
        token = current_call.set(running)
        self.watchdog.enter(running)
        self.last = implementation
        suspended = problem = None
        try:
            answer = implementation.call(event, call.ctx)
            if type(answer) is CoroutineType or (answer is not None and hasattr(answer, "__await__")):
                waiting = awaiting(running, answer)
                for awaited in waiting:
                    await (suspended := Suspended(waiting, awaited, running))
                answer = running.answer
            if answer is not None and hook.takes_answer:
                problem = hook.problem(answer, event)
        except BaseException as error:
            if is_interrupt(error) or (suspended is not None and suspended.closing):
                raise
            # Formatting the exception runs the plugin's code, so the watchdog must still monitor the call.
            from pi_core.hooks.descriptions import describe

            description = None if running.cancellations else describe(error, implementation.function, hook, event)
            await self._handle_exception(running, error, description)
            return _no_answer(call, implementation)
        finally:
            self.watchdog.leave(running)
            current_call.reset(token)
        took = clock() - running.started
        was_cancelled = running.cancellations or call.task.cancelling() > running.requests
        needs_check = was_cancelled or running.blocked is not None or took > implementation.deadline
        if needs_check and not await self._answer_counts(running, has_waited=suspended is not None):
            return _no_answer(call, implementation)
        if problem is not None:
            self._count_failure(running, "answer", problem + function_location(implementation.function))
            return _no_answer(call, implementation)
        implementation.failures = 0
        counter = implementation.counter
        counter.calls += 1
        counter.seconds += took
        counter.longest = max(counter.longest, took)
        if self.trace is not None or self.observers is not None:
            self._trace(running, "ok", answer if hook.takes_answer else None)
        return answer

    async def _handle_exception(
        self, running: RunningCall, error: BaseException, description: tuple[str, str] | None
    ) -> None:
        """Report an exception; raise ``CancelledError`` if something other than the watchdog cancelled the task."""
        exit_if_child(error)
        self.watchdog.leave(running)
        implementation = running.implementation
        cancelled = isinstance(error, asyncio.CancelledError)
        if isinstance(error, Abandoned):
            running.abandon_inner()
            self._quarantine(implementation)
            message = "it ignored every cancellation (a bare except catches them), so pi no longer waits for it"
            self._count_failure(running, "deadline", message)
        elif running.blocked or description is None:
            if not self._report_overrun(running):
                self._count(running, "cancelled")
        elif not (cancelled and running.cancelled_elsewhere):
            self._count_failure(running, "raised", *description)
        else:
            self._count(running, "cancelled")
        if await running.withdraw_cancellations():
            self.suspect = implementation
            raise error if cancelled else asyncio.CancelledError

    async def _answer_counts(self, running: RunningCall, *, has_waited: bool) -> bool:
        """Return whether to use the answer of a call that was cancelled or took long.

        Args:
            running: The call.
            has_waited: Whether it has awaited something, so that others could hold it up.

        Raises:
            CancelledError: The call swallowed a cancellation of the whole task.
        """
        exit_if_child()
        if await running.withdraw_cancellations():
            self.suspect = running.implementation
            raise asyncio.CancelledError
        if has_waited:
            self.watchdog.excuse(running)
        if self._report_overrun(running):
            return False
        if running.cancellations and running.call.hook.refuses:
            self._count(running, "cancelled")
            return False
        return True

    def _report_overrun(self, running: RunningCall) -> bool:
        """Report a call that blocked the event loop or missed its deadline; return False if it did neither."""
        if running.blocked is not None:
            # The call was interrupted at an arbitrary point, so the state of the whole plugin may be inconsistent.
            self._quarantine(running.implementation, whole_plugin=True)
            self._count_failure(running, "blocked", running.blocked)
            return True
        if running.why == "abort" or not (running.cancellations or running.late):  # ending on an abort is not a failure
            return False
        self._count_failure(running, "deadline", f"no answer within {running.implementation.deadline:g} s")
        return True

    def _count_failure(
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
        implementation.counter.failures += 1
        implementation.counter.timeouts += kind in ("deadline", "blocked")
        self._count(running, kind)

    def _count(self, running: RunningCall, outcome: HookOutcome) -> None:
        """Count a call that gave no answer."""
        counter, took = running.implementation.counter, running.elapsed
        counter.calls += 1
        counter.seconds += took
        counter.longest = max(counter.longest, took)
        self._trace(running, outcome)

    def _report_ignored_cancellation(self, running: RunningCall) -> None:
        hook, plugin = running.implementation.hook, running.implementation.plugin
        message = (
            "it was cancelled but is still running; if it also ignores the next cancellation, pi stops waiting for it"
        )
        self.report_failure(hook=hook, plugin=plugin, kind="ignored", message=message)

    def _show_waiting(self, calls: list[RunningCall]) -> None:
        if self.on_waiting is not None:
            self.on_waiting([(each.implementation.plugin, each.implementation.hook) for each in calls])

    def report_failure(self, **what: Any) -> None:
        """Report a failure with these fields of ``HookFailure``."""
        from pi_core.hooks.reports import HookFailure  # only needed for failures, which most runs do not have

        self._report(HookFailure(**what))

    def observe(self, plugin: str, function: Callable[[HookTrace], object]) -> Callable[[], None]:
        """Add a function of a plugin that is called after every hook call; return a function that removes it.

        It also gets the past calls of ``activate``, because most plugins are activated before a plugin can observe.

        Raises:
            TypeError: The function is ``async``, or is not callable.
        """
        from pi_core.hooks.observers import Observers, activation_trace

        if self.observers is None:
            self.observers = Observers(self.report_failure)
        past = [
            activation_trace(name, started, took, failed=failed) for name, started, took, failed in self.activations
        ]
        return self.observers.add(plugin, function, past)

    def activated(self, plugin: str, started: float, seconds: float, *, failed: bool) -> None:
        """Record a call of ``activate`` for current and future observers."""
        self.activations.append((plugin, started, seconds, failed))
        if self.observers is not None:
            from pi_core.hooks.observers import activation_trace

            self.observers.call(activation_trace(plugin, started, seconds, failed=failed))

    def _trace(self, running: RunningCall, outcome: HookOutcome, answer: Any = None) -> None:
        if self.trace is None and not self.observers:
            return
        from pi_core.hooks.observers import trace_of

        trace = trace_of(running, outcome, answer)
        if self.trace is not None:
            self.trace(trace)
        if self.observers is not None:
            self.observers.call(trace)


def _no_answer(call: HookCall, implementation: HookImplementation) -> None:
    if call.hook.refuses:
        raise HookRefused(_refusal(call, implementation))


def _refusal(call: HookCall, implementation: HookImplementation) -> str:
    if (signal := call.signal) is not None and signal.aborted:
        return signal.reason or "Operation aborted"
    plugin, hook = implementation.plugin, call.hook.name
    if implementation.defect:
        what = f"plugin {plugin!r} implements {hook} but cannot be called: {implementation.defect}"
    else:
        what = (
            f"plugin {plugin!r} "
            f"{'is no longer called because it failed' if implementation.quarantined else 'failed'} in {hook}"
        )
    return f"Extension failed, blocking execution: {what}. Disable it with --disable {plugin}"

"""Calls one implementation at a time: what its answer, its exception or its silence means for it and for the hook."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from pi_core._plugin_text import said, stack_of
from pi_core.hooks.records import HookRefused
from pi_core.hooks.watchdog import RunningCall, Watchdog, current_call

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
        self.watchdog = Watchdog(Invoker.invoke.__code__, self._stalled)

    async def invoke(self, call: HookCall, implementation: HookImplementation, event: Any) -> Any:
        """Return an implementation's answer, of the right type; None when there is none or it failed.

        Raises:
            HookRefused: It failed, and failures refuse.
        """
        hook = call.hook
        if implementation.quarantined:
            return self._no_answer(call, implementation)
        running = RunningCall(hook.name, implementation.deadline, call.signal, call.task)
        token = current_call.set(running)
        self.watchdog.enter(running)
        try:
            answer = implementation.call(event, call.ctx)
            if answer is not None and hasattr(answer, "__await__"):
                answer = await answer
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, SystemExit included
            await self._failed(call, implementation, running, error)
            return self._no_answer(call, implementation)
        finally:
            self.watchdog.leave(running)
            current_call.reset(token)
        if running.disturbed():
            await self._answered_late(call, implementation, running)
            if running.why == "deadline" or running.blocked or hook.refuses:
                return self._no_answer(call, implementation)
        if answer is not None and hook.asks and (problem := hook.problem(answer, event)) is not None:
            self._blame(call, implementation, running, "answer", problem)
            return self._no_answer(call, implementation)
        implementation.failures = 0
        if self.trace is not None:
            self._trace(implementation, running, changed=answer is not None and hook.asks)
        return answer

    def _no_answer(self, call: HookCall, implementation: HookImplementation) -> None:
        if call.hook.refuses:
            raise HookRefused(_refusal(call, implementation))

    async def _failed(
        self, call: HookCall, implementation: HookImplementation, running: RunningCall, error: BaseException
    ) -> None:
        """Find out what an exception means; raises when the task is cancelled by others, too."""
        self.watchdog.leave(running)
        cancelled = isinstance(error, asyncio.CancelledError)
        if running.marks or running.blocked:
            self._overran(call, implementation, running)
        elif not (cancelled and running.cancelled_by_others):
            with suppress(Exception):  # an exception may be frozen
                error.add_note(f"in plugin {implementation.plugin!r}, hook {implementation.hook}")
            self._blame(call, implementation, running, "raised", said(error), stack_of(error))
        if await running.take_back():
            raise error if cancelled else asyncio.CancelledError

    async def _answered_late(self, call: HookCall, implementation: HookImplementation, running: RunningCall) -> None:
        """Settle a call that answered all the same, though it was cancelled or took too long."""
        if await running.take_back():
            raise asyncio.CancelledError  # it swallowed what was not meant for it
        self._overran(call, implementation, running)

    def _overran(self, call: HookCall, implementation: HookImplementation, running: RunningCall) -> None:
        if running.blocked is not None:
            # It was interrupted in the middle of something: no part of the plugin can be relied on now.
            self._quarantine(implementation, whole_plugin=True)
            self._blame(call, implementation, running, "blocked", running.blocked)
        elif running.why == "deadline":  # stopping at an abort is no fault
            message = f"no answer within {implementation.deadline:g} s"
            self._blame(call, implementation, running, "deadline", message)

    def _blame(  # noqa: PLR0917 - everything that a report says
        self,
        call: HookCall,
        implementation: HookImplementation,
        running: RunningCall,
        kind: Literal["raised", "deadline", "blocked", "answer"],
        message: str,
        stack: str | None = None,
    ) -> None:
        implementation.failures += 1
        if implementation.quarantined or implementation.failures >= QUARANTINE_AFTER:
            self._quarantine(implementation)
        self.tell_failure(
            hook=implementation.hook,
            plugin=implementation.plugin,
            kind=kind,
            message=message,
            milliseconds=running.elapsed * 1000,
            quarantined=implementation.quarantined,
            refuses=implementation.quarantined and call.hook.refuses,
            stack=stack,
        )
        self._trace(implementation, running, changed=False)

    def _stalled(self, message: str) -> None:
        self.tell_failure(hook="(none)", plugin="(unknown)", kind="stall", message=message)

    def tell_failure(self, **what: Any) -> None:
        """Report a failure with these fields of ``HookFailure``."""
        from pi_core.hooks.reports import HookFailure  # most runs have none

        self._report(HookFailure(**what))

    def _trace(self, implementation: HookImplementation, running: RunningCall, *, changed: bool) -> None:
        if self.trace is not None:
            from pi_core.hooks.reports import HookTrace

            hook, plugin, took = implementation.hook, implementation.plugin, running.elapsed * 1000
            self.trace(HookTrace(hook=hook, plugin=plugin, milliseconds=took, changed=changed))


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

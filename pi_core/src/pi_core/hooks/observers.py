"""Observers of hook calls: functions of plugins that get a ``HookTrace`` after each call and cannot affect it."""

from __future__ import annotations

from functools import partial
from inspect import iscoroutinefunction
from time import time
from typing import TYPE_CHECKING, Any

from pi_core.agent.safe_text import safe_repr, summary_and_traceback
from pi_core.hooks.acting import acting
from pi_core.hooks.containment import Contained, clock
from pi_hookspecs import HookTrace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pi_core.hooks.running_call import RunningCall
    from pi_hookspecs.traces import HookOutcome

__all__ = ["Observer", "Observers", "activation_trace", "trace_of"]

OBSERVING_SECONDS = 1.0
"""How long an observer may take for one trace, because everything else waits for it."""

MOST_FAILURES = 3
"""Consecutive failures after which an observer is no longer called."""


class Observer:
    """A function of a plugin that gets the traces."""

    def __init__(self, plugin: str, function: Any) -> None:
        if not callable(function) or iscoroutinefunction(function):
            raise TypeError(
                f"{safe_repr(function)} cannot observe hooks: an observer is a plain function that takes one HookTrace"
            )
        self.plugin = plugin
        self.function = function
        self.failures = 0


class Observers:
    """The observers of one dispatcher.

    Args:
        report: Called with the fields of a ``HookFailure``.
    """

    def __init__(self, report: Callable[..., None]) -> None:
        self._report = report
        self._all: tuple[Observer, ...] = ()
        self._calling = False

    def add(
        self, plugin: str, function: Callable[[HookTrace], object], past: Iterable[HookTrace] = ()
    ) -> Callable[[], None]:
        """Add an observer, which first gets the ``past`` traces; return a function that removes it.

        Raises:
            TypeError: The function is ``async``, or is not callable.
        """
        observer = Observer(plugin, function)
        self._all += (observer,)
        for trace in past:
            if observer in self._all:  # otherwise it was removed because of failures
                self._call((observer,), trace)
        return lambda: self._remove(observer)

    def __bool__(self) -> bool:
        return bool(self._all)

    def call(self, trace: HookTrace) -> None:
        """Call all observers. Hook calls that an observer causes are not observed, to avoid endless recursion."""
        self._call(self._all, trace)

    def _call(self, observers: Iterable[Observer], trace: HookTrace) -> None:
        if self._calling:
            return
        self._calling = True
        try:
            for each in observers:
                failed = partial(self._failed, each)
                with Contained(failed), acting(each.plugin):
                    started = clock()
                    each.function(trace)
                    if clock() - started > OBSERVING_SECONDS:
                        message = f"an observer of hooks took longer than {OBSERVING_SECONDS:g} s"
                        raise TimeoutError(message)
                    each.failures = 0
        finally:
            self._calling = False

    def _remove(self, observer: Observer) -> None:
        self._all = tuple(each for each in self._all if each is not observer)

    def _failed(self, observer: Observer, error: BaseException) -> None:
        observer.failures += 1
        removed = observer.failures >= MOST_FAILURES
        if removed:
            self._remove(observer)
        message, stack = summary_and_traceback(error, observer.function)
        self._report(
            hook="observe_hooks",
            plugin=observer.plugin,
            kind="raised",
            message=message,
            quarantined=removed,
            stack=stack,
        )


def activation_trace(plugin: str, started: float, seconds: float, *, failed: bool) -> HookTrace:
    """Return the trace of a call of ``activate``, which is not an event hook."""
    outcome: HookOutcome = "raised" if failed else "ok"
    return HookTrace(
        hook="activate", plugin=plugin, milliseconds=seconds * 1000, changed=False, started=started, outcome=outcome
    )


def trace_of(running: RunningCall, outcome: HookOutcome, answer: Any) -> HookTrace:
    """Return the trace of a call that has ended; ``answer`` is None if the answer is not used."""
    event, took = running.event, running.elapsed
    refused = getattr(answer, "block", None) is True or getattr(answer, "cancel", None) is True
    return HookTrace(
        hook=running.implementation.hook,
        plugin=running.implementation.plugin,
        milliseconds=took * 1000,
        changed=answer is not None,
        started=time() - took,
        outcome="vetoed" if refused else outcome,
        key=getattr(event, "tool_call_id", None) or getattr(event, "request_id", None),
    )

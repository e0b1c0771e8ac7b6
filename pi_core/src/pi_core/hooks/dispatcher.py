"""The one place that calls event hooks; pluggy finds and validates implementations but cannot await them.

For each hook the implementations are compiled once into a tuple of records, in the order in which they
run. A hook that nobody implements costs a look into a dict. The answer rules, and what a failure means,
are read from the specification (``pi_hookspecs.answers``).
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, cast

import attrs

from pi_core._plugin_text import said, stack_of
from pi_core.hooks.order import in_order
from pi_core.hooks.records import (
    CompiledHook,
    HookCall,
    HookImplementation,
    HookRefused,
    Timeouts,
    adapted,
    parameters,
)
from pi_core.hooks.watchdog import RunningCall, Watchdog, current_call
from pi_hookspecs import Order, Rule, UnknownName, answers_of
from pi_hookspecs.specs import all_hookspecs

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    import pluggy

    from pi_core.hooks.reports import HookFailure, HookTrace
    from pi_hookspecs import AbortSignal, Answers, PiContext

__all__ = ["HookDispatcher", "HookImplementation", "HookRefused", "Timeouts"]

P = ParamSpec("P")
R = TypeVar("R")

QUARANTINE_AFTER = 3
"""Failures in a row after which an implementation is not called any more."""


class HookDispatcher:
    """Calls hooks for one session.

    Args:
        plugins: Where implementations are registered.
        rank: A plugin's place in load order; without it, plugins run in the order of their registration.
        report: Told of every failure.
        timeouts: Deadlines from the settings.
        trace: Told of every call, where somebody wants to know.
    """

    def __init__(
        self,
        plugins: pluggy.PluginManager,
        *,
        report: Callable[[HookFailure], None],
        rank: Callable[[str], int] | None = None,
        timeouts: Timeouts | None = None,
        trace: Callable[[HookTrace], None] | None = None,
    ) -> None:
        self._plugins = plugins
        self._report = report
        self._rank = rank
        self._timeouts = timeouts or Timeouts()
        self.trace = trace
        self._watchdog = Watchdog(HookDispatcher._invoke.__code__, self._stalled)
        self._broken: set[str] = set()
        self._handlers: dict[str, list[HookImplementation]] = {}
        self._hooks = {
            name: CompiledHook(name, spec, declared, self._combination(declared))
            for name, spec in all_hookspecs().items()
            if (declared := answers_of(spec)) is not None
        }
        self.compile()

    # Calling

    def listens(self, name: str) -> bool:
        """Whether anybody implements the hook; ask before building an event on a hot path."""
        return bool(self._hooks[name].implementations)

    async def call(self, spec: Callable[P, Awaitable[R]], *args: P.args, **kwargs: P.kwargs) -> R | None:
        """Ask a hook, by its specification, and return the combined answer; None when there is none.

        Raises:
            HookRefused: An implementation failed, and the spec says that failures refuse.
        """
        del kwargs  # event hooks take (event, ctx); the parameters are there for the type checker
        hook = self._hooks[spec.__name__]
        if not hook.implementations:
            return None
        event, ctx = args
        return cast("R | None", await hook.combine(HookCall(hook, ctx), event))

    async def call_each(
        self, spec: Callable[P, Awaitable[R | None]], *args: P.args, **kwargs: P.kwargs
    ) -> list[tuple[str, R]]:
        """Ask a hook and return every answer beside its plugin, not combined: where it matters who said what."""
        del kwargs
        event, ctx = args
        call = HookCall(self._hooks[spec.__name__], ctx)
        asked = [(each.plugin, await self._invoke(call, each, event)) for each in call.hook.implementations]
        return [(plugin, answer) for plugin, answer in asked if answer is not None]

    async def notify(self, event: Any, ctx: PiContext) -> None:
        """Tell a notify hook, named by the event's type."""
        hook = self._hooks[event.type]
        if hook.implementations:
            await hook.combine(HookCall(hook, ctx), event)

    def abort(self, signal: AbortSignal) -> None:
        """End the implementations that run for an aborted run."""
        self._watchdog.abort(signal)

    @contextmanager
    def clock_stopped(self) -> Iterator[None]:
        """Let the present call's deadline stand still, while it waits for the user."""
        call = current_call.get()
        if call is None:
            yield
            return
        call.pause()
        try:
            yield
        finally:
            call.resume()

    # Who is called

    def implementations(self, name: str) -> tuple[HookImplementation, ...]:
        """Return who answers a hook, in call order.

        Raises:
            UnknownName: There is no such event hook.
        """
        if name not in self._hooks:
            raise UnknownName("event", name, self._hooks)
        return self._hooks[name].implementations

    def add(self, plugin: str, name: str, function: Callable[..., Any]) -> Callable[[], None]:
        """Add a handler of a plugin at run time; returns how to take it away.

        Raises:
            UnknownName: There is no such event hook.
            TypeError: The function cannot be called with an event and a context.
        """
        self.implementations(name)
        argnames = parameters(function)
        implementation = self._implementation(name, plugin, function, argnames, band=1)
        handlers = self._handlers.setdefault(name, [])
        handlers.append(implementation)
        self.compile(name)

        def remove() -> None:
            if implementation in handlers:
                handlers.remove(implementation)
                self.compile(name)

        return remove

    def compile(self, *names: str, afresh: bool = False) -> None:
        """Read anew who implements these hooks, or all; ``afresh`` holds nothing that was before against anybody."""
        self._broken = set() if afresh else self._broken
        registered = [name for name, _ in self._plugins.list_name_plugin()]
        rank = self._rank or (lambda plugin: registered.index(plugin) if plugin in registered else len(registered))
        for name in names or self._hooks:
            hook = self._hooks[name]
            hook.known = () if afresh else hook.known
            hook.known = tuple(self._find(hook))
            ordered, circles = in_order([each for each in hook.known if hook.refuses or not each.quarantined], rank)
            hook.implementations = tuple(ordered)
            for circle in circles:
                if circle not in hook.circles:
                    hook.circles.append(circle)
                    message = f"before= and after= go round in a circle ({' -> '.join(circle)}); load order decides"
                    self._tell_failure(hook=name, plugin=circle[0], kind="order", message=message)
        self._watchdog.shortest = min(
            (each.deadline for hook in self._hooks.values() for each in hook.implementations), default=30.0
        )

    def _find(self, hook: CompiledHook) -> Iterator[HookImplementation]:
        """Yield who implements a hook; those known before keep what is held against them."""
        known = {(each.plugin, id(each.function)): each for each in hook.known}
        caller = getattr(self._plugins.hook, hook.name, None)
        for each in caller.get_hookimpls() if caller is not None else ():
            band = 0 if each.tryfirst else 2 if each.trylast else 1
            yield known.get((each.plugin_name, id(each.function))) or self._implementation(
                hook.name, each.plugin_name, each.function, each.argnames, band=band
            )
        yield from self._handlers.get(hook.name, ())

    def close(self) -> None:
        """Stop watching; the dispatcher is done."""
        self._watchdog.close()

    def _implementation(
        self, hook: str, plugin: str, function: Callable[..., Any], argnames: tuple[str, ...], band: int
    ) -> HookImplementation:
        declared = self._hooks[hook].answers.deadline.value
        return HookImplementation(
            hook=hook,
            plugin=plugin,
            call=adapted(function, argnames),
            function=function,
            deadline=self._timeouts.of(plugin, hook, declared),
            band=band,
            order=getattr(function, "pi_order", Order()),
            quarantined=plugin in self._broken,
        )

    # One implementation

    async def _invoke(self, call: HookCall, implementation: HookImplementation, event: Any) -> Any:
        """Return an implementation's answer, of the right type; None when there is none or it failed.

        Raises:
            HookRefused: It failed, and failures refuse.
        """
        hook = call.hook
        if implementation.quarantined:
            return self._no_answer(call, implementation)
        running = RunningCall(hook.name, implementation.deadline, call.signal, call.task)
        token = current_call.set(running)
        self._watchdog.enter(running)
        try:
            answer = implementation.call(event, call.ctx)
            if answer is not None and hasattr(answer, "__await__"):
                answer = await answer
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, SystemExit included
            await self._failed(implementation, running, error)
            return self._no_answer(call, implementation)
        finally:
            self._watchdog.leave(running)
            current_call.reset(token)
        if running.disturbed():
            await self._answered_late(implementation, running)
            if running.why == "deadline" or running.blocked or hook.refuses:
                return self._no_answer(call, implementation)
        if answer is not None and hook.asks and (problem := hook.problem(answer, event)) is not None:
            self._blame(implementation, running, "answer", problem)
            return self._no_answer(call, implementation)
        implementation.failures = 0
        if self.trace is not None:
            self._trace(implementation, running, changed=answer is not None and hook.asks)
        return answer

    def _no_answer(self, call: HookCall, implementation: HookImplementation) -> None:
        if call.hook.refuses:
            raise HookRefused(_refusal(call, implementation))

    async def _failed(self, implementation: HookImplementation, running: RunningCall, error: BaseException) -> None:
        """Find out what an exception means; raises when somebody else wants the task cancelled."""
        self._watchdog.leave(running)
        cancelled = isinstance(error, asyncio.CancelledError)
        if running.marks or running.blocked:
            self._overran(implementation, running)
        elif not (cancelled and running.cancelled_by_others):
            with suppress(Exception):  # an exception may be frozen
                error.add_note(f"in plugin {implementation.plugin!r}, hook {implementation.hook}")
            self._blame(implementation, running, "raised", said(error), stack_of(error))
        if await running.take_back():
            raise error if cancelled else asyncio.CancelledError

    async def _answered_late(self, implementation: HookImplementation, running: RunningCall) -> None:
        """Settle a call that answered all the same, though it was cancelled or took too long."""
        if await running.take_back():
            raise asyncio.CancelledError  # it swallowed what was not meant for it
        self._overran(implementation, running)

    def _overran(self, implementation: HookImplementation, running: RunningCall) -> None:
        if running.blocked is not None:
            # It was broken off in the middle of something: nothing of the plugin can be trusted now.
            self._quarantine_plugin(implementation.plugin)
            self._blame(implementation, running, "blocked", running.blocked)
        elif running.why == "deadline":  # stopping at an abort is no fault
            self._blame(implementation, running, "deadline", f"no answer within {implementation.deadline:g} s")

    def _blame(
        self,
        implementation: HookImplementation,
        running: RunningCall,
        kind: Literal["raised", "deadline", "blocked", "answer"],
        message: str,
        stack: str | None = None,
    ) -> None:
        hook = self._hooks[implementation.hook]
        implementation.failures += 1
        if implementation.failures >= QUARANTINE_AFTER:
            implementation.quarantined = True
        if implementation.quarantined:
            self.compile(hook.name)
        self._tell_failure(
            hook=hook.name,
            plugin=implementation.plugin,
            kind=kind,
            message=message,
            milliseconds=running.elapsed * 1000,
            quarantined=implementation.quarantined,
            refuses=implementation.quarantined and hook.refuses,
            stack=stack,
        )
        self._trace(implementation, running, changed=False)

    def _quarantine_plugin(self, plugin: str) -> None:
        self._broken.add(plugin)
        for hook in self._hooks.values():
            for implementation in hook.known:
                if implementation.plugin == plugin:
                    implementation.quarantined = True
        self.compile()

    def _stalled(self, message: str) -> None:
        self._tell_failure(hook="(none)", plugin="(unknown)", kind="stall", message=message)

    def _tell_failure(self, **what: Any) -> None:
        from pi_core.hooks.reports import HookFailure  # most runs have none

        self._report(HookFailure(**what))

    def _trace(self, implementation: HookImplementation, running: RunningCall, *, changed: bool) -> None:
        if self.trace is not None:
            from pi_core.hooks.reports import HookTrace

            hook, plugin, took = implementation.hook, implementation.plugin, running.elapsed * 1000
            self.trace(HookTrace(hook=hook, plugin=plugin, milliseconds=took, changed=changed))

    # Combining answers

    def _combination(self, answers: Answers) -> Callable[[HookCall, Any], Awaitable[Any]]:
        if answers.whole is Rule.NOTIFY:
            return self._tell
        if answers.whole is Rule.FIRST:
            return self._first
        if answers.whole is Rule.PIPE:
            return self._pipe
        return self._by_field

    async def _tell(self, call: HookCall, event: Any) -> None:
        for implementation in call.hook.implementations:
            await self._invoke(call, implementation, event)

    async def _first(self, call: HookCall, event: Any) -> Any:
        for implementation in call.hook.implementations:
            answer = await self._invoke(call, implementation, event)
            if answer is not None and not getattr(answer, "abstains", False):
                return answer
        return None

    async def _pipe(self, call: HookCall, event: Any) -> Any:
        latest = None
        for implementation in call.hook.implementations:
            answer = await self._invoke(call, implementation, event)
            if answer is not None:
                latest = answer
                event = attrs.evolve(event, **{cast("str", call.hook.answers.into): answer})
        return latest

    async def _by_field(self, call: HookCall, event: Any) -> Any:
        merged: dict[str, Any] = {}
        for implementation in call.hook.implementations:
            answer = await self._invoke(call, implementation, event)
            if answer is None:
                continue
            for name, rule in call.hook.answers.fields.items():
                value = getattr(answer, name)
                if value is None:
                    continue
                if rule is Rule.VETO and value:
                    return answer
                if rule is Rule.PIPE:
                    merged[name] = value
                    if hasattr(event, name):
                        event = attrs.evolve(event, **{name: value})
                elif rule is Rule.COLLECT:
                    merged[name] = (*merged.get(name, ()), *value)
                elif rule is Rule.FIRST:
                    merged.setdefault(name, value)
        return call.hook.answer_type()(**merged) if merged else None


def _refusal(call: HookCall, implementation: HookImplementation) -> str:
    if (signal := call.signal) is not None and signal.aborted:
        return signal.reason or "Operation aborted"
    why = "was taken out after failing" if implementation.quarantined else "failed"
    return (
        f"Extension failed, blocking execution: plugin {implementation.plugin!r} {why} in {call.hook.name}."
        f" Disable it with --disable {implementation.plugin}"
    )

"""The one place that calls event hooks; pluggy finds and validates implementations but cannot await them.

For each hook the implementations are compiled once into a tuple of records, in call order.
A hook without implementations costs one dict lookup. The rules for answers and failures
are read from the specification (``pi_hookspecs.answers``).
"""

from __future__ import annotations

from asyncio import current_task
from collections import defaultdict
from contextlib import contextmanager
from functools import partial
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from pi_core.hooks.combining import combine_by
from pi_core.hooks.counters import Counter, summed
from pi_core.hooks.invoker import Invoker
from pi_core.hooks.joining import Joining
from pi_core.hooks.order import sort_implementations
from pi_core.hooks.records import CompiledHook, HookCall, HookImplementation, HookRefused, Timeouts
from pi_core.hooks.resting import Resting
from pi_core.hooks.running_call import current_call
from pi_core.hooks.signatures import adapt, parameters
from pi_hookspecs import Order, UnknownName, answers_of
from pi_hookspecs._markers import OBSERVED
from pi_hookspecs.specs import all_hookspecs

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterator, Mapping

    import pluggy

    from pi_core.hooks.combining import Invoke
    from pi_core.hooks.loop_watch import Block, Owners
    from pi_core.hooks.records import Combine
    from pi_core.hooks.reports import HookFailure
    from pi_hookspecs import AbortSignal, Answers, Deprecated, HookCounters, HookTrace, PiContext

__all__ = ["HookDispatcher", "HookImplementation", "HookRefused", "Timeouts"]

_ADDING = frozenset({"before_agent_start", "context"})
"""Hooks whose answers contain messages for the model."""

P = ParamSpec("P")
R = TypeVar("R")


class HookDispatcher:
    """Calls hooks for one session.

    Attributes:
        implemented: Names of the hooks that currently have an implementation to call.

    Args:
        plugins: The plugin manager with the registered implementations. A function for a notify hook that has an
            attribute ``pi_interval`` is called at most once in that number of seconds, which it may change.
        rank: Returns a plugin's index in load order; without it, plugins run in the order of their registration.
        report: Called with every failure.
        timeouts: Deadlines from the settings.
        trace: Called after every call.
        refusing: For each hook, the plugins that refuse because they could not be loaded, each with the reason.
        left_out: Plugins whose registered implementations are not called; read at each compilation.
        owners: Finds the plugins' code on a stack; without it, code that blocks the event loop is no plugin's.
    """

    def __init__(
        self,
        plugins: pluggy.PluginManager,
        *,
        report: Callable[[HookFailure], None],
        rank: Callable[[str], int] | None = None,
        timeouts: Timeouts | None = None,
        trace: Callable[[HookTrace], None] | None = None,
        refusing: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
        left_out: Collection[str] = (),
        owners: Owners | None = None,
    ) -> None:
        self._plugins = plugins
        self.owners = owners
        self._left_out = left_out
        self._refusing = refusing
        self._rank = rank
        self._timeouts = timeouts or Timeouts()
        self._invoker = Invoker(report, self._quarantine, trace)
        self._watchdog = self._invoker.watchdog
        self._watchdog.waiting_seconds = self._timeouts.waiting
        self._resting = Resting(self._update)
        self._joining = Joining(self._invoker.invoke)
        self._broken: dict[str, str] = {}
        self.block_seconds = self._timeouts.block
        """After this time, code that blocks the event loop is interrupted."""
        self._handlers: dict[str, list[HookImplementation]] = {}
        self._noted: set[tuple[str, str, str]] = set()
        self._counters: defaultdict[tuple[str, str], Counter] = defaultdict(Counter)
        self.implemented: frozenset[str] = frozenset()
        self.tokens_of: Callable[[Any], int] = lambda _message: 0
        """Estimates the tokens of a message, for the counters."""
        self._hooks = {
            name: CompiledHook(name, spec, answers, self._combination(name, answers))
            for name, spec in all_hookspecs().items()
            if (answers := answers_of(spec)) is not None
        }
        self.compile()

    # Calling

    def listens(self, name: str) -> bool:
        """Whether any plugin implements the hook; check this before building an event on a hot path."""
        return name in self.implemented

    def call(self, spec: Callable[P, Awaitable[R]], *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, R | None]:
        """Call a hook, given its specification, and return the combined answer; None if there is no answer.

        Raises:
            HookRefused: An implementation failed, and the specification declares that failures refuse.
        """
        del kwargs  # event hooks take (event, ctx); the parameters are there for the type checker
        hook = self._hooks[spec.__name__]
        return hook.combine(hook, *args) if hook.implementations else _nothing()

    def call_now(self, spec: Callable[P, R | None], *args: P.args, **kwargs: P.kwargs) -> R | None:
        """Call a hook whose specification is a plain function; return the combined answer, or None if there is none.

        Raises:
            HookRefused: An implementation failed or suspended, or no task of an event loop is running.
        """
        del kwargs
        hook = self._hooks[spec.__name__]
        return _finished(hook.combine(hook, *args), hook.name) if hook.implementations else None

    async def call_each(
        self, spec: Callable[P, Awaitable[R | None]], *args: P.args, **kwargs: P.kwargs
    ) -> list[tuple[str, R]]:
        """Call a hook and return every answer with its plugin, without combining the answers."""
        del kwargs
        event, ctx = args
        call = HookCall(self._hooks[spec.__name__], ctx)
        invoke = self._invoker.invoke
        asked = [(each.plugin, await invoke(call, each, event)) for each in call.hook.implementations]
        return [(plugin, answer) for plugin, answer in asked if answer is not None]

    def notify(self, event: Any, ctx: PiContext) -> Coroutine[Any, Any, None]:
        """Call a notify hook, named by the event's type."""
        hook = self._hooks[event.type]
        return hook.combine(hook, event, ctx) if hook.implementations else _nothing()

    async def deltas_settled(self) -> None:
        """Return when slow handlers of ``message_update`` have handled every event; called at a message's end."""
        if not self._joining.is_empty:
            await self._joining.settled()

    def abort(self, signal: AbortSignal) -> None:
        """Cancel every call of an aborted run; calls that ignore this are abandoned soon after."""
        self._watchdog.abort(signal)

    def skip_waiting(self) -> bool:
        """Cancel the calls that others have waited for; return whether there were any."""
        return self._watchdog.skip()

    def cycles(self) -> list[tuple[str, list[str]]]:
        """Return the cycles of ``before=`` and ``after=`` that load order decides, each with its hook."""
        return [(name, cycle) for name, hook in self._hooks.items() for cycle in hook.cycles]

    def neighbours(self) -> list[tuple[str, str, str]]:
        """Return hook, plugin and the name of the other plugin for each ``before=`` and ``after=``."""
        found = ((name, each) for name, hook in self._hooks.items() for each in hook.known)
        return [(name, each.plugin, other) for name, each in found for other in (*each.order.before, *each.order.after)]

    def on_waiting(self, show: Callable[[list[tuple[str, str]]], None]) -> None:
        """Call a function with plugin and hook of the calls that others have waited for, when these change."""
        self._invoker.on_waiting = show

    def end_in_child(self) -> None:
        """Make this process, which an implementation has forked, end as soon as the implementation returns."""
        self._watchdog.end_in_child()

    @contextmanager
    def deadline_paused(self) -> Iterator[None]:
        """Pause the deadline of the current call while it waits for the user."""
        call = current_call.get()
        if call is None:
            yield
            return
        call.pause()
        try:
            yield
        finally:
            call.resume()

    @property
    def trace(self) -> Callable[[HookTrace], None] | None:
        """Called after every call; None if there is no trace."""
        return self._invoker.trace

    @trace.setter
    def trace(self, value: Callable[[HookTrace], None] | None) -> None:
        self._invoker.trace = value

    def observe(self, plugin: str, function: Callable[[HookTrace], object]) -> Callable[[], None]:
        """Add a function of a plugin that is called after every hook call; return a function that removes it."""
        return self._invoker.observe(plugin, function)

    def activated(self, plugin: str, started: float, seconds: float, *, failed: bool) -> None:
        """Record a call of ``activate`` for current and future observers."""
        self._invoker.activated(plugin, started, seconds, failed=failed)

    @property
    def activations(self) -> list[tuple[str, float, float, bool]]:
        """The calls that ``activated`` recorded."""
        return self._invoker.activations

    def counters(self) -> tuple[HookCounters, ...]:
        """Return what each plugin's hooks have cost so far, the largest total time first; a reload resets nothing."""
        return summed(self._counters)

    @property
    def last_hook(self) -> str | None:
        """The hook that ran last or was cancelled, such as ``turn_end of plugin 'x'``; None before the first.

        For the error message of a run that was cancelled for an unknown reason.
        """
        last = self._invoker.suspect or self._invoker.last
        return None if last is None else f"{last.hook} of plugin {last.plugin!r}"

    def explain_cancellation(self) -> str:
        """Return a sentence on what may have cancelled a run that neither the user nor the program cancelled."""
        last = f"The last hook that ran: {self.last_hook}" if self.last_hook is not None else "See pi plugins"
        return f"The run was cancelled from inside: a plugin cancelled the task in which pi called it. {last}"

    def forget_last_hook(self) -> None:
        """Reset ``last_hook``, at the start of a run."""
        self._invoker.last = self._invoker.suspect = None

    def keep_last_hook(self) -> None:
        """Freeze ``last_hook``, because hooks that are called from now on belong to the end of the run."""
        self._invoker.suspect = self._invoker.suspect or self._invoker.last

    # Implementations

    def implementations(self, name: str) -> tuple[HookImplementation, ...]:
        """Return the implementations of a hook, in call order.

        Raises:
            UnknownName: There is no such event hook.
        """
        if name not in self._hooks:
            raise UnknownName("event", name, self._hooks)
        return self._hooks[name].ordered

    def add(self, plugin: str, name: str, function: Callable[..., Any]) -> Callable[[], None]:
        """Add a handler of a plugin at run time; return a function that removes it.

        Raises:
            UnknownName: There is no such event hook.
            TypeError: The function cannot be called with an event and a context.
        """
        self.implementations(name)
        argnames = parameters(function)
        mark = getattr(self._hooks[name].spec, "pi_deprecated", None)
        if mark is not None:
            from pi_core.hooks.deprecations import place_of

            self._note_use(name, plugin, "", mark, place_of(function))
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
        """Recompile the given hooks, or all hooks; ``afresh`` resets failure counts and quarantines."""
        self._broken = {} if afresh else self._broken
        registered = [name for name, _ in self._plugins.list_name_plugin()]
        rank = self._rank or (lambda plugin: registered.index(plugin) if plugin in registered else len(registered))
        for name in names or self._hooks:
            hook = self._hooks[name]
            hook.known = () if afresh else hook.known
            hook.known = tuple(self._find(hook))
            ordered, cycles = sort_implementations(
                [each for each in hook.known if hook.refuses or not each.quarantined], rank
            )
            if name in OBSERVED:
                ordered.sort(key=attrgetter("observes"))
                hook.combine = self._combination(name, hook.answers, observed=any(each.observes for each in ordered))
            hook.ordered = tuple(ordered)
            hook.implementations = tuple(each for each in ordered if not each.rests)
            for cycle in cycles:
                if cycle not in hook.cycles:
                    hook.cycles.append(cycle)
                    message = f"before= and after= form a cycle ({' -> '.join(cycle)}); load order decides"
                    self._invoker.report_failure(hook=name, plugin=cycle[0], kind="order", message=message)
        found = {name for name in names or self._hooks if self._hooks[name].implementations}
        self.implemented = self.implemented.difference(names or self._hooks) | found
        self._watchdog.shortest = min(
            (each.deadline for hook in self._hooks.values() for each in hook.ordered), default=30.0
        )

    def _update(self, name: str) -> None:
        """Leave out the implementations of a hook that rest now."""
        hook = self._hooks[name]
        hook.implementations = tuple(each for each in hook.ordered if not each.rests)
        self.implemented = self.implemented | {name} if hook.implementations else self.implemented - {name}

    def _combination(self, name: str, answers: Answers, *, observed: bool = False) -> Combine:
        """Return the function that calls a hook's implementations; ``observed`` reports changes to observing ones."""
        invoke: Invoke = self._invoker.invoke
        if name == "message_update":
            invoke = self._joining.invoke
        elif name in _ADDING:
            invoke = _counting_messages(invoke, self._estimate)
        if not observed:
            return combine_by(answers, invoke)
        from pi_core.hooks.changes import report_changes

        return combine_by(answers, report_changes(invoke))

    def _estimate(self, message: Any) -> int:
        return self.tokens_of(message)

    def _find(self, hook: CompiledHook) -> Iterator[HookImplementation]:
        """Yield the implementations of a hook; known ones keep their failure counts and quarantines."""
        known = {(each.plugin, id(each.function)): each for each in hook.known}
        caller = getattr(self._plugins.hook, hook.name, None)
        found = caller.get_hookimpls() if caller is not None else ()
        for each in (each for each in found if each.plugin_name not in self._left_out):
            band = 0 if each.tryfirst else 2 if each.trylast else 1
            yield known.get((each.plugin_name, id(each.function))) or self._implementation(
                hook.name, each.plugin_name, each.function, each.argnames, band=band
            )
        yield from self._handlers.get(hook.name, ())
        for plugin, defect in self._refusing.get(hook.name, {}).items():  # first: no other answer may precede it
            refusal = self._implementation(hook.name, plugin, _never_called, (), band=0)
            refusal.quarantined, refusal.defect = True, defect
            yield refusal

    def close(self) -> None:
        """Release the timers and the signal; the next call acquires them again."""
        self._watchdog.close()
        self._resting.close()

    def _implementation(
        self, hook: str, plugin: str, function: Callable[..., Any], argnames: tuple[str, ...], band: int
    ) -> HookImplementation:
        declared = self._hooks[hook].answers.deadline.value
        implementation = HookImplementation(
            hook=hook,
            plugin=plugin,
            call=self._call_of(hook, plugin, adapt(function, argnames)),
            function=function,
            deadline=self._timeouts.of(plugin, hook, declared),
            band=band,
            order=getattr(function, "pi_order", Order()),
            quarantined=plugin in self._broken,
            observes=getattr(function, "pi_observe", False),
            counter=self._counters[hook, plugin],
        )
        if getattr(function, "pi_interval", 0.0) and not self._hooks[hook].takes_answer:  # whose answer counts is asked
            self._resting.apply(implementation, partial(getattr, function, "pi_interval"))
        return implementation

    def _call_of(self, hook: str, plugin: str, call: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """Return the function to call: one that reports reads of deprecated fields, if the event has any."""
        marks = getattr(self._hooks[hook].spec, "pi_deprecated_fields", None)
        if marks is None:
            return call
        from pi_core.hooks.deprecations import noting_fields

        return noting_fields(call, marks, partial(self._note_use, hook, plugin))

    def _note_use(self, hook: str, plugin: str, what: str, mark: Deprecated, place: str) -> None:
        """Report once that a plugin uses something deprecated."""
        if (plugin, hook, what) not in self._noted:
            self._noted.add((plugin, hook, what))
            name = f"event.{what}" if what else "the hook"
            message = f"{name} {mark} ({place})"
            self._invoker.report_failure(hook=hook, plugin=plugin, kind="deprecated", message=message)

    def _quarantine(self, implementation: HookImplementation, *, whole_plugin: bool = False) -> None:
        """Quarantine an implementation, or, with ``whole_plugin``, all implementations of its plugin."""
        implementation.quarantined = True
        if not whole_plugin:
            self.compile(implementation.hook)
            return
        self._break(implementation.plugin, "it blocked the event loop")

    def _break(self, plugin: str, why: str) -> None:
        """Quarantine all implementations of a plugin."""
        self._broken[plugin] = why
        for each in (each for hook in self._hooks.values() for each in hook.known):
            each.quarantined = each.quarantined or each.plugin == plugin
        self.compile()

    # Code that blocks the event loop

    def blocked(self, block: Block) -> None:
        """Report code that has blocked the event loop and has ended."""
        kind = "stall" if block.plugin is None else "blocking"
        self._invoker.report_failure(hook="(code)", plugin=block.plugin or "(unknown)", kind=kind, message=str(block))

    def interrupted(self, block: Block) -> None:
        """Quarantine a plugin whose code was interrupted because it blocked the event loop, and report it."""
        plugin = block.plugin
        if plugin is None or plugin in self._broken:  # its hook was interrupted, which is reported with the call
            return
        self._break(plugin, f"it blocked pi for {block.seconds:.0f} s in {block.place}")
        message = (
            f"Plugin {plugin!r} blocked everything else for {block.seconds:.1f} s in {block.place} and was interrupted."
            f" It is no longer called in this session; disable it with --disable {plugin}"
        )
        self._invoker.report_failure(hook="(code)", plugin=plugin, kind="blocking", message=message, quarantined=True)

    @property
    def has_broken_plugins(self) -> bool:
        """Whether a plugin is not called any more."""
        return bool(self._broken)

    def refusal_of(self, plugin: str | None) -> str | None:
        """Return why a plugin's tools and commands are not called, as a sentence; None if they are."""
        why = self._broken.get(plugin or "")
        return None if why is None else f"Plugin {plugin!r} is no longer called in this session, because {why}"


def _never_called() -> None:
    """Replace a function of a plugin that could not be loaded."""


def _finished(calling: Coroutine[Any, Any, R], name: str) -> R:
    """Return the result of a coroutine that never suspends.

    Raises:
        HookRefused: The coroutine suspended, or no task is running.
    """
    if not _is_in_task():
        calling.close()
        raise HookRefused(f"Hook {name} can be called only in a task of the session's event loop")
    try:
        calling.send(None)
    except StopIteration as end:
        result: R = end.value
        return result
    calling.close()
    raise HookRefused(f"A plugin awaits something in hook {name}, where nothing can be awaited")


def _is_in_task() -> bool:
    try:
        return current_task() is not None
    except RuntimeError:  # no event loop is running
        return False


async def _nothing() -> None:
    """Return None, the answer of a hook without implementations."""


def _counting_messages(invoke: Invoke, tokens: Callable[[Any], int]) -> Invoke:
    """Return a function that calls implementations by ``invoke`` and counts the ``tokens`` of messages they add."""

    async def count(call: HookCall, implementation: HookImplementation, event: Any) -> Any:
        answer = await invoke(call, implementation, event)
        if answer is not None and answer.messages:
            known = {id(each) for each in getattr(event, "messages", ())}
            added = (tokens(each) for each in answer.messages if id(each) not in known)
            implementation.counter.message_tokens += sum(added)
        return answer

    return count

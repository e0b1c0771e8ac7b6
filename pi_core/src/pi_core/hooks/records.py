"""Records of hooks, their implementations and their calls."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import Factory

import pi_hookspecs
from pi_core.agent.safe_text import format_exception, safe_repr
from pi_core.hooks.counters import Counter
from pi_hookspecs import OnFailure, Order, PiError, Rule
from pi_hookspecs.deferred import define, field, frozen
from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from pi_hookspecs import AbortSignal, Answers

    Combine: TypeAlias = Callable[["CompiledHook", Any, Any], Coroutine[Any, Any, Any]]

__all__ = [
    "CompiledHook",
    "HookCall",
    "HookImplementation",
    "HookRefused",
    "Timeouts",
]


_OPEN_TYPES: dict[str, type] = {"Any": object, "Mapping": Mapping}
"""Answer types that are not classes of the contract; a hook's event checks mappings itself (``problem_of``)."""


class HookRefused(PiError):
    """An implementation failed in a hook whose failures refuse; the message names it and says what to do."""


@frozen(kw_only=True, eq=False, repr=False)
class Timeouts(Value):
    """Deadlines from the settings, in seconds. The most specific one applies, else the specification's deadline.

    Attributes:
        shutdown: Deadline of ``session_shutdown``, unless a setting names another.
        waiting: After this time, the user learns which call others wait for.
        block: After this time, code that blocks the event loop is interrupted.
    """

    default: float | None = None
    plugins: Mapping[str, float] = field(factory=dict)
    hooks: Mapping[str, float] = field(factory=dict)
    block: float = 10.0
    shutdown: float = 5.0
    waiting: float = 2.0

    def of(self, plugin: str, hook: str, declared: float) -> float:
        """Return the deadline of one implementation."""
        for seconds in (self.plugins.get(plugin), self.hooks.get(hook), self.default):
            if seconds is not None:
                return seconds
        return self.shutdown if hook == "session_shutdown" else declared


@define(eq=False, repr=False)
class HookImplementation(ReprMixin):
    """One plugin's function for one hook, ready to be called with ``(event, ctx)``.

    Attributes:
        quarantined: Whether it is no longer called; if failures of the hook refuse, it then refuses.
        counter: Counts its calls, together with the plugin's other implementations of the hook.
        observes: Whether it is called after all others, with their changes, and its answer is ignored.
        rests: Whether it is not called at present, because it was called less than its interval ago.
        defect: Why it cannot be called; set if the plugin could not be loaded.
    """

    hook: str
    plugin: str
    call: Callable[[Any, Any], Any]
    function: Callable[..., Any]
    deadline: float
    band: int
    order: Order
    failures: int = 0
    quarantined: bool = False
    defect: str = ""
    observes: bool = False
    rests: bool = False
    counter: Counter = Factory(Counter)


@define(eq=False, repr=False)
class CompiledHook(ReprMixin):
    """A hook with its ordered implementations and the function that combines their answers.

    Attributes:
        known: All implementations, including quarantined ones.
        ordered: The implementations that are not quarantined, in order.
        implementations: Those of them to call now; the others rest.
        cycles: Cycles of ``before=`` and ``after=`` that were already reported.
    """

    name: str
    spec: Callable[..., Any]
    answers: Answers
    combine: Combine
    known: tuple[HookImplementation, ...] = ()
    ordered: tuple[HookImplementation, ...] = ()
    implementations: tuple[HookImplementation, ...] = ()
    cycles: list[list[str]] = Factory(list)
    _answer_type: type | None = None

    @property
    def refuses(self) -> bool:
        """Whether a failure counts as a refusal."""
        return self.answers.on_failure is OnFailure.REFUSE

    @property
    def takes_answer(self) -> bool:
        """Whether implementations may return an answer."""
        return self.answers.whole is not Rule.NOTIFY

    def answer_type(self) -> type:
        """Return the class of the answer, by the specification's annotation; imported for the first answer."""
        if self._answer_type is None:
            name = self.spec.__annotations__["return"].split("|")[0].strip()
            self._answer_type = _OPEN_TYPES.get(name.partition("[")[0]) or getattr(pi_hookspecs, name)
        return self._answer_type

    def problem(self, answer: Any, event: Any) -> str | None:
        """Return the problem with an answer: a wrong type, or what the class's own check reports for this event."""
        expected = self.answer_type()
        if not isinstance(answer, expected):
            return f"returned {safe_repr(answer)}, which is neither None nor of type {expected.__name__}"
        try:
            if expected is Mapping:
                return str(found) if (found := event.problem_of(answer)) is not None else None
            check = getattr(answer, "problem", None) if expected is not object else None
            return check(event) if check is not None else None
        except Exception as error:  # noqa: BLE001 - the check reads values of the plugin
            return f"returned a {expected.__name__} that cannot be read: {format_exception(error)}"


class HookCall:
    """The state of one hook call that its implementations share. It is created once per delta, so it is small.

    Attributes:
        ctx: The context that implementations get with the event.
        signal: The abort signal of the run.
        seen: The event as the latest implementation received it, if an implementation observes changes.
        task: The task in which the implementations run.
    """

    __slots__ = ("ctx", "hook", "seen", "signal", "task")

    def __init__(self, hook: CompiledHook, ctx: Any) -> None:
        self.hook = hook
        self.ctx = ctx
        self.seen: Any = None
        self.signal: AbortSignal | None = ctx.signal if ctx is not None else None
        self.task: asyncio.Task[Any] = asyncio.current_task()  # type: ignore[assignment]  # hooks run in tasks

"""What the dispatcher keeps of each implementation, and what a call of it is."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import Factory, define, field, frozen

import pi_hookspecs
from pi_core.agent.safe_text import format_exception, safe_repr
from pi_hookspecs import OnFailure, Order, PiError, Rule
from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from pi_hookspecs import AbortSignal, Answers

    Combine: TypeAlias = Callable[["CompiledHook", Any, Any], Coroutine[Any, Any, Any]]

__all__ = [
    "CompiledHook",
    "HookCall",
    "HookImplementation",
    "HookRefused",
    "Timeouts",
    "adapted",
    "parameters",
]


class HookRefused(PiError):
    """An implementation failed in a hook whose failures refuse; the message says which, and what to do."""


@frozen(kw_only=True, eq=False, repr=False)
class Timeouts(Value):
    """Seconds that an implementation may take: the most specific setting, else what the spec declares."""

    default: float | None = None
    plugins: Mapping[str, float] = field(factory=dict)
    hooks: Mapping[str, float] = field(factory=dict)

    def of(self, plugin: str, hook: str, declared: float) -> float:
        """Return the deadline of one implementation."""
        for seconds in (self.plugins.get(plugin), self.hooks.get(hook), self.default):
            if seconds is not None:
                return seconds
        return declared


@define(eq=False, repr=False)
class HookImplementation(ReprMixin):
    """One plugin's function for one hook, ready to be called with ``(event, ctx)``.

    Attributes:
        quarantined: It is not called; where failures refuse, it refuses.
        defect: Why it cannot be called at all, where the plugin could not be loaded.
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


@define(eq=False, repr=False)
class CompiledHook(ReprMixin):
    """A hook compiled: who is called, and how the answers combine.

    Attributes:
        known: Everybody who implements it, those in quarantine included.
        implementations: Who is called, in order.
        cycles: Cycles of ``before=`` and ``after=`` that were reported already.
    """

    name: str
    spec: Callable[..., Any]
    answers: Answers
    combine: Combine
    known: tuple[HookImplementation, ...] = ()
    implementations: tuple[HookImplementation, ...] = ()
    cycles: list[list[str]] = Factory(list)
    _answer_type: type | None = None

    @property
    def refuses(self) -> bool:
        """Whether a failure answers as a refusal would."""
        return self.answers.on_failure is OnFailure.REFUSE

    @property
    def asks(self) -> bool:
        """Whether anybody waits for an answer."""
        return self.answers.whole is not Rule.NOTIFY

    def answer_type(self) -> type:
        """Return the class of the result, which the spec names; loaded when the first answer comes."""
        if self._answer_type is None:
            name = self.spec.__annotations__["return"].split("|")[0].strip()
            self._answer_type = object if name == "Any" else getattr(pi_hookspecs, name)
        return self._answer_type

    def problem(self, answer: Any, event: Any) -> str | None:
        """Return what is wrong with an answer: its type, or what its class finds wrong beside this event."""
        expected = self.answer_type()
        if not isinstance(answer, expected):
            return f"answered {safe_repr(answer)}, which is no {expected.__name__} and not None"
        check = getattr(answer, "problem", None) if expected is not object else None
        try:
            return check(event) if check is not None else None
        except Exception as error:  # noqa: BLE001 - it looks at whatever the plugin put in
            return f"answered with a {expected.__name__} that cannot be read: {format_exception(error)}"


class HookCall:
    """One time that a hook is called, and what is the same for each implementation; made once per delta.

    Attributes:
        ctx: What implementations get beside the event.
        signal: The abort of the run that it is about.
        task: In which they run.
    """

    __slots__ = ("ctx", "hook", "signal", "task")

    def __init__(self, hook: CompiledHook, ctx: Any) -> None:
        self.hook = hook
        self.ctx = ctx
        self.signal: AbortSignal | None = ctx.signal if ctx is not None else None
        self.task: asyncio.Task[Any] = asyncio.current_task()  # type: ignore[assignment]  # hooks run in tasks


def parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return which of ``event`` and ``ctx`` a handler takes: by name, else by position.

    Raises:
        TypeError: It cannot be called with an event and a context.
    """
    from inspect import Parameter, signature

    try:
        taken = signature(function).parameters.values()
    except ValueError:  # written in C, and does not say what it takes
        return ("event", "ctx")
    needed = [each for each in taken if each.default is Parameter.empty]
    names = [each.name for each in needed if each.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)]
    if len(names) > 2 or any(each.kind is Parameter.KEYWORD_ONLY for each in needed):  # noqa: PLR2004 - event and ctx
        message = f"{safe_repr(function)} takes {', '.join(each.name for each in needed)}; a handler gets event and ctx"
        raise TypeError(message)
    if names and set(names) <= {"event", "ctx"}:
        return tuple(names)
    if any(each.kind is Parameter.VAR_POSITIONAL for each in taken):
        return ("event", "ctx")
    return ("event", "ctx")[: len(names)]


def adapted(function: Callable[..., Any], argnames: tuple[str, ...]) -> Callable[[Any, Any], Any]:
    """Return the function as one of ``(event, ctx)``, whichever of the two it takes."""
    if argnames == ("event", "ctx"):
        return function
    if argnames == ("ctx", "event"):
        return lambda event, ctx: function(ctx, event)
    if argnames == ("event",):
        return lambda event, _ctx: function(event)
    if argnames == ("ctx",):
        return lambda _event, ctx: function(ctx)
    return lambda _event, _ctx: function()

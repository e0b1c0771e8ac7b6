"""The decorators of plugin authors (``hookimpl``) and of this package (``hookspec``, ``answers``).

pluggy finds, validates and orders implementations. What it lacks is defined here: how answers combine,
what a failure means, how long an implementation may take, and order by plugin name.
"""

from __future__ import annotations

from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, overload

import pluggy

from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = [
    "Answers",
    "Deadline",
    "Deprecated",
    "OnFailure",
    "Order",
    "Rule",
    "answers",
    "answers_of",
    "deprecated",
    "hookimpl",
    "hookspec",
]

PROJECT = "pi"
"""Name of the pluggy project and of the entry point group."""

OBSERVED = {
    "before_agent_start": ("system_prompt",),
    "before_provider_request": ("payload", "headers"),
    "context": ("messages",),
}
"""Hooks whose changes can be observed, and the fields of their events in which changes are looked for."""

_F = TypeVar("_F", bound="Callable[..., Any]")

_mark_spec = pluggy.HookspecMarker(PROJECT)


@frozen(eq=False, repr=False)
class Deprecated(Value):
    """The deprecation notice of a hook, a field or a method.

    Attributes:
        since: The version from which on its use is reported, once for each plugin.
        removal: The version that will not have it.
        use: What to use instead, as the end of a sentence: ``use ctx.totals``.
    """

    since: str
    removal: str
    use: str

    def __str__(self) -> str:
        return f"is deprecated since {self.since} and will be removed in {self.removal}; {self.use}"


@overload
def hookspec(function: _F, /) -> _F: ...
@overload
def hookspec(
    function: None = None, /, *, deprecated: Deprecated | None = None, deprecated_fields: Mapping[str, Deprecated] = ...
) -> Callable[[_F], _F]: ...
def hookspec(
    function: Any = None,
    /,
    *,
    deprecated: Deprecated | None = None,
    deprecated_fields: Mapping[str, Deprecated] = MappingProxyType({}),
) -> Any:
    """Mark a function as the specification of the hook of its name.

    Args:
        function: The function, when used without parentheses.
        deprecated: Implementing the hook is reported.
        deprecated_fields: Fields of its event; reading one is reported.
    """

    def mark(spec: Any) -> Any:
        spec.pi_spec = True
        if deprecated is not None:
            spec.pi_deprecated = deprecated
        if deprecated_fields:
            spec.pi_deprecated_fields = MappingProxyType(dict(deprecated_fields))
        return _mark_spec(spec)

    return mark if function is None else mark(function)


def deprecated(mark: Deprecated) -> Callable[[_F], _F]:
    """Mark a method of ``PiAPI`` or ``PiContext``, or the function below ``@property``; its use is reported."""

    def put(function: _F) -> _F:
        function.pi_deprecated = mark  # type: ignore[attr-defined]
        return function

    return put


class Rule(Enum):
    """How the answers of several implementations combine."""

    NOTIFY = "notify"
    """Every implementation is called, answers are ignored."""
    COLLECT = "collect"
    """All answers, in order."""
    FIRST = "first"
    """The first answer that is not None wins."""
    PIPE = "pipe"
    """Each implementation receives the previous one's result."""
    VETO = "veto"
    """The first refusal wins; later implementations are not called."""


class OnFailure(Enum):
    """The effect if an implementation raises, misses its deadline or returns a wrong type."""

    SKIP = "skip"
    """It is reported and counts as no answer."""
    REFUSE = "refuse"
    """It is reported and refuses: a guard that crashes must not open the gate."""


class Deadline(Enum):
    """Seconds that one implementation may take; settings can change them."""

    SHORT = 30.0
    LONG = 600.0
    """For hooks whose implementations may call a model or run commands."""
    TYPING = 2.0
    """For hooks whose answer is shown while the user types."""


@frozen(eq=False, repr=False)
class Answers(Value):
    """The declared combination of one hook's answers.

    Attributes:
        whole: The rule for the answer as a whole; None if each field has its own.
        into: With ``PIPE`` as a whole: the event's field that an answer replaces; None when the answer
            has a field of that event.
        fields: Rule per field of the result type.
    """

    whole: Rule | None
    into: str | None
    fields: Mapping[str, Rule]
    on_failure: OnFailure
    deadline: Deadline

    def __str__(self) -> str:
        """Return the rule as ``pi hooks`` prints it."""
        if self.whole is not None:
            return self.whole.value
        return ", ".join(f"{name}: {rule.value}" for name, rule in self.fields.items())


def answers(
    whole: Rule | None = None,
    *,
    into: str | None = None,
    on_failure: OnFailure = OnFailure.SKIP,
    deadline: Deadline = Deadline.SHORT,
    **fields: Rule,
) -> Callable[[_F], _F]:
    """Declare on a hook specification how answers combine, as a whole or per field of its result type."""

    def declare(spec: _F) -> _F:
        declared = Answers(whole, into, MappingProxyType(fields), on_failure, deadline)
        spec.pi_answers = declared  # type: ignore[attr-defined]
        return spec

    return declare


def answers_of(spec: Callable[..., Any]) -> Answers | None:
    """Return what ``answers`` declared on the spec; None on a registration hook."""
    declared: Answers | None = getattr(spec, "pi_answers", None)
    return declared


@frozen(eq=False, repr=False)
class Order(Value):
    """Names of plugins before and after which an implementation has to run."""

    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


def _names(value: str | Iterable[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


class _HookimplMarker:
    """pluggy's marker, with order by plugin name."""

    def __init__(self) -> None:
        self._mark = pluggy.HookimplMarker(PROJECT)

    @overload
    def __call__(self, function: _F, /) -> _F: ...
    @overload
    def __call__(
        self,
        function: None = None,
        /,
        *,
        tryfirst: bool = False,
        trylast: bool = False,
        optionalhook: bool = False,
        specname: str | None = None,
        before: str | Iterable[str] = (),
        after: str | Iterable[str] = (),
        observe: bool = False,
    ) -> Callable[[_F], _F]: ...
    def __call__(
        self,
        function: Callable[..., Any] | None = None,
        /,
        *,
        tryfirst: bool = False,
        trylast: bool = False,
        optionalhook: bool = False,
        specname: str | None = None,
        before: str | Iterable[str] = (),
        after: str | Iterable[str] = (),
        observe: bool = False,
    ) -> Callable[..., Any]:
        """Mark a function as the implementation of the hook of the same name.

        Args:
            function: The function, when used without parentheses.
            tryfirst: Run before those that do not ask for it.
            trylast: Run after those that do not ask for it.
            optionalhook: No warning when no such hook exists, for plugins that support several versions.
            specname: The hook's name, where the function has another name.
            before: Plugins that are to run after this one, by name.
            after: Plugins that are to run before this one, by name.
            observe: Called after all others, with what they changed in ``event.changes``; what it returns is ignored.
                Only for the hooks ``context`` and ``before_provider_request``.

        Raises:
            TypeError: The hook has no changes to observe.
        """

        def mark(target: Callable[..., Any]) -> Callable[..., Any]:
            if observe:
                hook = specname or getattr(target, "__name__", "")
                if hook not in OBSERVED:
                    raise TypeError(f"observe=True is for the hooks {', '.join(OBSERVED)}, not for {hook!r}")
                target.pi_observe = True  # type: ignore[attr-defined]
            if before or after:
                target.pi_order = Order(_names(before), _names(after))  # type: ignore[attr-defined]
            return self._mark(target, tryfirst=tryfirst, trylast=trylast, optionalhook=optionalhook, specname=specname)

        return mark if function is None else mark(function)


hookimpl = _HookimplMarker()

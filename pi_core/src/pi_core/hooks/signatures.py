"""What functions take that implement hooks or handle events, and what calls them with what they take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_core.agent.safe_text import safe_repr
from pi_hookspecs import answers_of

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["adapt", "cannot_be_awaited", "parameters"]


def parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return which of ``event`` and ``ctx`` a handler takes, by name, else by position.

    Raises:
        TypeError: It cannot be called with an event and a context.
    """
    from inspect import Parameter, signature

    try:
        taken = signature(function).parameters.values()
    except ValueError:  # a builtin without a signature
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


def cannot_be_awaited(spec: Callable[..., Any], function: object) -> str | None:
    """Return what is wrong with an ``async`` implementation of a hook that is a plain function; None if nothing is."""
    from inspect import iscoroutinefunction

    if answers_of(spec) is None or iscoroutinefunction(spec) or not iscoroutinefunction(function):
        return None
    return "is async, but this hook is called where nothing can be awaited; write def instead of async def"


def adapt(function: Callable[..., Any], argnames: tuple[str, ...]) -> Callable[[Any, Any], Any]:
    """Return a function of ``(event, ctx)`` that calls the given one with those of the two that it takes."""
    if argnames == ("event", "ctx"):
        return function
    if argnames == ("ctx", "event"):
        return lambda event, ctx: function(ctx, event)
    if argnames == ("event",):
        return lambda event, _ctx: function(event)
    if argnames == ("ctx",):
        return lambda _event, ctx: function(ctx)
    return lambda _event, _ctx: function()

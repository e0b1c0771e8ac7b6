"""Reads the parameters of functions that implement hooks or handle events, and adapts calls to them."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

from pi_core.agent.safe_text import safe_repr
from pi_hookspecs import answers_of

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Needed", "adapt", "cannot_be_awaited", "needed", "parameters"]

_HAS_STAR = 0x04
"""The value of ``inspect.CO_VARARGS``."""


class Needed(NamedTuple):
    """The arguments that a function requires.

    Attributes:
        positional: The parameters without a default that can be given by position.
        keywords: The parameters without a default that can only be given by keyword.
        star: Whether the function takes any number of further positional arguments.
    """

    positional: list[str]
    keywords: list[str]
    star: bool


def needed(function: Any) -> Needed:
    """Return the arguments that a function requires.

    Raises:
        ValueError: The function is a builtin without a signature.
    """
    if type(function) is FunctionType and not vars(function).keys() & {"__wrapped__", "__signature__"}:
        return _needed_of_code(function)  # every start calls this for each hook of each plugin; ``signature`` is slow
    from inspect import Parameter, signature

    taken = signature(function).parameters.values()
    without = [each for each in taken if each.default is Parameter.empty]
    by_position = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return Needed(
        [each.name for each in without if each.kind in by_position],
        [each.name for each in without if each.kind is Parameter.KEYWORD_ONLY],
        any(each.kind is Parameter.VAR_POSITIONAL for each in taken),
    )


def _needed_of_code(function: FunctionType) -> Needed:
    code, names = function.__code__, function.__code__.co_varnames
    keywords = names[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    return Needed(
        list(names[: code.co_argcount - len(function.__defaults__ or ())]),
        [each for each in keywords if each not in (function.__kwdefaults__ or {})],
        bool(code.co_flags & _HAS_STAR),
    )


def parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return which of ``event`` and ``ctx`` a handler takes, determined by name, else by position.

    Raises:
        TypeError: The handler cannot be called with an event and a context.
    """
    try:
        names, keywords, star = needed(function)
    except ValueError:  # a builtin without a signature
        return ("event", "ctx")
    if len(names) > 2 or keywords:  # noqa: PLR2004 - event and ctx
        message = f"{safe_repr(function)} takes {', '.join([*names, *keywords])}; a handler takes event and ctx"
        raise TypeError(message)
    if names and set(names) <= {"event", "ctx"}:
        return tuple(names)
    if star:
        return ("event", "ctx")
    return ("event", "ctx")[: len(names)]


def cannot_be_awaited(spec: Callable[..., Any], function: object) -> str | None:
    """Return the problem if an implementation is ``async`` but its hook is a plain function; else None."""
    from inspect import iscoroutinefunction

    if answers_of(spec) is None or iscoroutinefunction(spec) or not iscoroutinefunction(function):
        return None
    return "is async, but this hook is called where nothing can be awaited; write def instead of async def"


def adapt(function: Callable[..., Any], argnames: tuple[str, ...]) -> Callable[[Any, Any], Any]:
    """Return a function of ``(event, ctx)`` that calls the given function with the arguments that it takes."""
    if argnames == ("event", "ctx"):
        return function
    if argnames == ("ctx", "event"):
        return lambda event, ctx: function(ctx, event)
    if argnames == ("event",):
        return lambda event, _ctx: function(event)
    if argnames == ("ctx",):
        return lambda _event, ctx: function(ctx)
    return lambda _event, _ctx: function()

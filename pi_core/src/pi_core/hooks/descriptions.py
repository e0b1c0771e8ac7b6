"""Describes exceptions of hook implementations, with a hint if an event was changed in place."""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from typing import TYPE_CHECKING, Any

from attrs.exceptions import FrozenError

from pi_core.agent.safe_text import summary_and_traceback
from pi_core.hooks.containment import Contained

if TYPE_CHECKING:
    from pi_core.hooks.records import CompiledHook

__all__ = ["describe"]


def describe(error: BaseException, function: object, hook: CompiledHook, event: Any) -> tuple[str, str]:
    """Return a message with file and line, and a traceback, even if formatting the exception fails.

    Args:
        error: The exception of the implementation.
        function: The implementation.
        hook: The hook that it implements.
        event: The event that it was called with.
    """
    with Contained(lambda _: None):  # __str__ and __repr__ of plugins may raise, or be interrupted
        return _describe(error, function, hook, event)
    return type(error).__name__, ""


def _describe(error: BaseException, function: object, hook: CompiledHook, event: Any) -> tuple[str, str]:
    line, stack = summary_and_traceback(error, function)
    if not _changes_in_place(error, event):
        return line, stack
    if not hook.takes_answer:
        return f"{line}. Events cannot be changed in place, and results of {hook.name} are ignored", stack
    answer = hook.answer_type()
    instead = "the replacement" if answer is object else f"{answer.__name__}(...) with the changes"
    return f"{line}. Events cannot be changed in place: return {instead}", stack


def _changes_in_place(error: BaseException, event: Any) -> bool:
    """Whether the implementation tried to change the event, a value in it, or one of its sequences."""
    if isinstance(error, FrozenError):
        return type(_frozen_object(error)).__module__.partition(".")[0] == "pi_hookspecs"
    sequences = _sequences(event)
    if isinstance(error, AttributeError):
        return hasattr(MutableSequence, error.name or "") and any(error.obj is each for each in sequences)
    text = str(error) if type(error) is TypeError else ""
    return any(f"{type(each).__name__!r} object does not support item" in text for each in sequences)


def _frozen_object(error: FrozenError) -> object:
    """Return the frozen object that the code tried to change: the ``self`` of the innermost frame."""
    entry = error.__traceback__
    while entry is not None and entry.tb_next is not None:
        entry = entry.tb_next
    return entry.tb_frame.f_locals.get("self") if entry is not None else None


def _sequences(event: Any) -> list[Any]:
    """Return the sequences among an event's fields, by ``type``: a plugin's object may have any ``__class__``."""
    values = [getattr(event, each.name) for each in getattr(type(event), "__attrs_attrs__", ())]
    return [each for each in values if issubclass(type(each), Sequence) and not isinstance(each, str)]

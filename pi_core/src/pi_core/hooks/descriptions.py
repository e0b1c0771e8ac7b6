"""What a report says of an error in a hook: where in the plugin it arose, and what the hook wants instead."""

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
    """Return a line with the place, and a traceback; whatever the error does when it is looked at.

    Args:
        error: What the implementation raised.
        function: The implementation.
        hook: What it implements.
        event: What it got.
    """
    with Contained(lambda _: None):  # it runs the plugin's code, which may be interrupted at any place
        return _described(error, function, hook, event)
    return type(error).__name__, ""


def _described(error: BaseException, function: object, hook: CompiledHook, event: Any) -> tuple[str, str]:
    line, stack = summary_and_traceback(error, function)
    if not _changes_in_place(error, event):
        return line, stack
    if not hook.asks:
        return f"{line}. Events are not changed in place, and {hook.name} takes no answer", stack
    answer = hook.answer_type()
    instead = "what it is to be instead" if answer is object else f"{answer.__name__}(...) with what is to be different"
    return f"{line}. Events are not changed in place: return {instead}", stack


def _changes_in_place(error: BaseException, event: Any) -> bool:
    """Whether the implementation tried to change the event, a value in it, or one of its sequences."""
    if isinstance(error, FrozenError):
        return type(_refusing(error)).__module__.partition(".")[0] == "pi_hookspecs"
    sequences = _sequences(event)
    if isinstance(error, AttributeError):
        return hasattr(MutableSequence, error.name or "") and any(error.obj is each for each in sequences)
    text = str(error) if type(error) is TypeError else ""
    return any(f"{type(each).__name__!r} object does not support item" in text for each in sequences)


def _refusing(error: FrozenError) -> object:
    """Return the object that refused to be changed: the one whose method raised."""
    entry = error.__traceback__
    while entry is not None and entry.tb_next is not None:
        entry = entry.tb_next
    return entry.tb_frame.f_locals.get("self") if entry is not None else None


def _sequences(event: Any) -> list[Any]:
    """Return the sequences among an event's fields; what plugins have put there is not asked for its class."""
    values = [getattr(event, each.name) for each in getattr(type(event), "__attrs_attrs__", ())]
    return [each for each in values if issubclass(type(each), Sequence) and not isinstance(each, str)]

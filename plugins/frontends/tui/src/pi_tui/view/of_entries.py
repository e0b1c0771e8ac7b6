"""Conversion of a stored branch to blocks, with the same result as receiving its events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

from pi_hookspecs.values import ReprMixin
from pi_tui.view.changes import Changes
from pi_tui.view.of_messages import add_message, message_end
from pi_tui.view.of_session import add_entry
from pi_tui.view.of_tools import take_result
from pi_tui.view.state import Footer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_tui.view.state import State

__all__ = ["load_entries"]

_INTERRUPTED = "No result: pi ended while the call was running"


@frozen(repr=False)
class _Ended(ReprMixin):
    message: Any


def load_entries(state: State, entries: Iterable[Any], *, running: bool = False) -> Changes:
    """Replace the conversation with a branch, given from its first entry; the totals of the footer stay.

    Args:
        state: The state to change.
        entries: The entries of the branch.
        running: Whether a prompt is being answered, so that calls without a result may still get one.
    """
    state.clear()
    kept, state.footer = state.footer, Footer()
    context = None
    for entry in entries:
        if entry.type == "message":
            _add(state, entry.message)
            context = state.footer.context
        elif entry.type == "custom_message":
            add_message(state, _as_message(entry))
        else:
            if entry.type == "compaction":
                state.footer.context = context = None
            add_entry(state, entry)
    for call_id in [] if running else [*state.unfinished]:
        take_result(state, call_id, output=_INTERRUPTED, failed=True)
    kept.hit_rate = state.footer.hit_rate
    kept.context = context if state.blocks else 0
    state.footer = kept
    return Changes(parts=frozenset(("queue", "work", "footer")), reload=True)


def _add(state: State, message: Any) -> None:
    if message.role in ("assistant", "toolResult"):
        message_end(state, _Ended(message))
    else:
        add_message(state, message)


@frozen(repr=False)
class _Message(ReprMixin):
    custom_type: str
    content: Any
    display: bool
    details: Any
    role: str = "custom"


def _as_message(entry: Any) -> _Message:
    return _Message(entry.custom_type, entry.content, entry.display, entry.details)

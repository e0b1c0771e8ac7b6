"""What the model is told about a text that means a call and cannot be one: an unknown tool, wrong or cut arguments.

The filter of the answer finds the mistake and leaves it in the message; the model reads of it at the end of the turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import CustomMessageEntry, MessageEntry, NewEntry, TurnEndResult
from pi_written_calls.settings import MISTAKE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_hookspecs import AssistantMessage, PiContext

__all__ = ["ENTRY", "hint_for", "hint_of"]

ENTRY = "written-calls"
"""The type of the session's entries with hints."""
_MOST = 2
"""Hints after one prompt; a model that does not understand them gives its answer as it is."""


def hint_of(problem: str, tools: Iterable[str]) -> str:
    """Return the hint for a problem, which is a clause."""
    names = ", ".join(sorted(tools))
    return (
        f"Nothing was run: {problem}. The tools are: {names}. To call one of them, write the complete call and nothing"
        " else. If you did not want to call a tool, answer in words."
    )


def hint_for(message: AssistantMessage, ctx: PiContext) -> TurnEndResult | None:
    """Return the hint of a message, after which the model is asked again; None if it has none."""
    hint = message.extra.get(MISTAKE)
    if not isinstance(hint, str):
        return None
    given = 0
    for entry in reversed(ctx.session.branch()):
        if isinstance(entry, MessageEntry) and entry.message.role == "user":
            break
        given += isinstance(entry, CustomMessageEntry) and entry.custom_type == ENTRY
    if given >= _MOST:
        return None
    return TurnEndResult(entries=[NewEntry(custom_type=ENTRY, content=hint)], continue_=True)

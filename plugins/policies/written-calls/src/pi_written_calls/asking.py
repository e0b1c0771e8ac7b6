"""The question before a call runs that was read from text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pi_hookspecs import ToolCallResult, unanswered_reason
from pi_written_calls.settings import ID, mode_of

if TYPE_CHECKING:
    from pi_hookspecs import PiContext, ToolCallEvent

__all__ = ["ask"]

_LONGEST = 400


async def ask(event: ToolCallEvent, ctx: PiContext) -> ToolCallResult | None:
    """Return the refusal of a call that was read from text, None if it may run."""
    if not event.tool_call_id.startswith(ID) or mode_of(ctx.settings) != "ask":
        return None
    if not ctx.has_ui:
        why = "This call was written as text, and the user wants to be asked before it runs, but nobody can be asked."
        return ToolCallResult(block=True, reason=why)
    given = json.dumps(event.input, ensure_ascii=False)
    shown = given if len(given) <= _LONGEST else f"{given[:_LONGEST]}…"
    if await ctx.ui.confirm(
        f"Run {event.tool_name}?", f"The model wrote this call as text:\n{event.tool_name} {shown}"
    ):
        return None
    if (unanswered := unanswered_reason()) is not None:
        why = f"This call was written as text and did not run, because the user wants to be asked, and {unanswered}."
        return ToolCallResult(block=True, reason=why)
    return ToolCallResult(block=True, reason="The user does not want this call, which was written as text, to run.")

"""Reducers for the events of tool calls.

A call's block is created when its arguments begin to stream. Its result arrives twice: when the tool has finished, and
as a message of the conversation, which plugins may have changed in between.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_tui.view.blocks import Tool
from pi_tui.view.changes import NOTHING
from pi_tui.view.clean import clean_line, clean_output
from pi_tui.view.content import images_of, text_of
from pi_tui.view.growing import Growing
from pi_tui.view.state import changed

if TYPE_CHECKING:
    from pi_tui.view.blocks import Image
    from pi_tui.view.changes import Changes
    from pi_tui.view.state import State

__all__ = ["arguments_of", "execution_end", "execution_start", "execution_update", "take_result"]

_MOST_OUTPUT, _KEPT_OUTPUT = 200_000, 49_900
"""Maximum characters of an output that is kept in full, and the number kept from the end of a longer output. That end,
together with the line about omitted characters, is short enough to be displayed in full."""


def execution_start(state: State, event: Any) -> Changes:
    """Mark a call as running; create its block if another tool made the call, since no answer contains it then."""
    block = state.unfinished.get(event.tool_call_id)
    if block is None:
        block = state.add(Tool, call_id=event.tool_call_id, name=clean_line(event.tool_name))
        state.unfinished[event.tool_call_id] = block
    block.status = "running"
    block.started = state.now
    block.arguments, block.received = dict(event.args), Growing()
    return changed(block)


def execution_update(state: State, event: Any) -> Changes:
    """Set the partial result of a running call."""
    block = state.unfinished.get(event.tool_call_id)
    if block is None:
        return NOTHING
    block.output = _clean_end(text_of(event.partial_result.content))
    block.details = event.partial_result.details
    return changed(block)


def execution_end(state: State, event: Any) -> Changes:
    """Set the result of a call whose tool has finished."""
    return take_result(
        state,
        event.tool_call_id,
        output=text_of(event.result.content),
        images=images_of(event.result.content),
        details=event.result.details,
        failed=event.is_error,
        duration_ms=event.duration_ms,
        last=False,
    )


def take_result(
    state: State,
    call_id: str,
    *,
    output: str,
    images: tuple[Image, ...] = (),
    details: Any = None,
    failed: bool = False,
    duration_ms: int | None = None,
    last: bool = True,
) -> Changes:
    """Set the result of a call.

    Args:
        state: The state to change.
        call_id: The call's id; one without a block is ignored.
        output: The text of the result, not yet clean.
        images: The images of the result.
        details: The details that the tool returned.
        failed: Whether the result is an error.
        duration_ms: How long the tool ran; None keeps the current value.
        last: Whether this is the last result of the call.
    """
    block = state.unfinished.pop(call_id, None) if last else state.unfinished.get(call_id)
    if block is None:
        return NOTHING
    before = (block.status, block.output, block.images, block.details, block.duration_ms)
    block.status = "error" if failed else "done"
    block.output = _clean_end(output)
    block.images = images
    block.details = details
    block.duration_ms = block.duration_ms if duration_ms is None else duration_ms
    same = before == (block.status, block.output, block.images, block.details, block.duration_ms)
    return NOTHING if same else changed(block)


def _clean_end(output: str) -> str:
    """Return an output cleaned, or only its end if it is very long; that is rare, since tools limit their output."""
    if len(output) <= _MOST_OUTPUT:
        return clean_output(output)
    return f"... ({len(output) - _KEPT_OUTPUT:,} characters are left out)\n{clean_output(output[-_KEPT_OUTPUT:])}"


def arguments_of(block: Tool) -> dict[str, Any]:
    """Return a call's arguments as far as they are received; call this once per frame rather than for every delta."""
    if block.arguments is not None:
        return block.arguments
    import jiter

    try:
        value = jiter.from_json(str(block.received).encode("utf-8", "replace"), partial_mode="trailing-strings")
    except ValueError:  # nothing is received yet, or it is not JSON
        return {}
    return value if isinstance(value, dict) else {}

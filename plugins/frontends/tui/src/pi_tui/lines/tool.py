"""Rows of a tool call: a box in the colour of its state, with the rows of the tool's view.

A plugin that draws a tool may do so without the box.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import ImageContent, Run, TextContent, ToolResult
from pi_tui.lines.box import boxed, inner_width
from pi_tui.lines.foreign import foreign_rows
from pi_tui.lines.images import image_rows
from pi_tui.lines.tools import view_of
from pi_tui.lines.wrap import wrap
from pi_tui.view.of_tools import arguments_of

if TYPE_CHECKING:
    from pi_hookspecs import Line
    from pi_tui.lines.look import Look
    from pi_tui.view.blocks import Tool

__all__ = ["tool_rows"]

_BACKGROUNDS = {"pending": "toolPendingBg", "running": "toolPendingBg", "done": "toolSuccessBg", "error": "toolErrorBg"}

_ENDED = ("done", "error")

_TITLE_ROWS = 10
"""Maximum number of rows of a title, such as a long command, unless it is expanded."""

_TITLE_CHARACTERS = 4000
"""Maximum number of characters of a title that are laid out for these rows."""


def tool_rows(block: Tool, look: Look) -> list[Line]:
    """Return the rows of a tool call."""
    is_framed = look.drawings is None or look.drawings.is_framed(block.name)
    width = inner_width(look.width) if is_framed else look.width
    arguments, view = arguments_of(block), view_of(block.name)
    rows = _drawn_call(block, arguments, look, width)
    if rows is None:
        rows = _title_rows(_with_name(view.title(arguments, look), block.name), width, look)
    body = _drawn_result(block, look, width)
    rows += view.body(block, arguments, look, width) if body is None else body
    rows += image_rows(block.images, look, width)
    return boxed(rows, _BACKGROUNDS[block.status], look.width) if is_framed else rows


def _drawn_call(block: Tool, arguments: dict[str, Any], look: Look, width: int) -> list[Line] | None:
    if look.drawings is None:
        return None
    partial = block.arguments is None
    rows = look.drawings.tool_call(
        block.name, arguments, width=width, expanded=look.expanded, partial=partial, call_id=block.call_id
    )
    return None if rows is None else foreign_rows(rows, width)


def _drawn_result(block: Tool, look: Look, width: int) -> list[Line] | None:
    if look.drawings is None or not (block.output or block.images or block.details or block.status in _ENDED):
        return None
    result = ToolResult(
        content=(TextContent(block.output), *(ImageContent(each.data, each.mime_type) for each in block.images)),
        details=block.details,
        is_error=block.status == "error",
    )
    partial = block.status not in _ENDED
    rows = look.drawings.tool_result(
        block.name, result, width=width, expanded=look.expanded, partial=partial, call_id=block.call_id
    )
    return None if rows is None else foreign_rows(rows, width)


def _with_name(runs: list[Run], name: str) -> list[Run]:
    return runs if runs and runs[0].role == "toolTitle" else [Run(name, "toolTitle", bold=True), *runs]


def _title_rows(runs: list[Run], width: int, look: Look) -> list[Line]:
    lines: list[list[Run]] = [[]]
    for run in runs:
        text = run.text if look.expanded else run.text[:_TITLE_CHARACTERS]
        first, *others = text.split("\n")
        lines[-1].append(run._replace(text=first))
        lines += [[run._replace(text=each)] for each in others]
    rows = [row for line in lines for row in wrap(line, width)]
    if look.expanded or len(rows) <= _TITLE_ROWS:
        return rows
    hint = look.hints.get("expand")
    return [*rows[: _TITLE_ROWS - 1], *wrap([Run(f"... ({hint} to expand)" if hint else "...", "muted")], width)]

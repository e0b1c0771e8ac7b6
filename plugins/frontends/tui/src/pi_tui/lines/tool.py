"""A tool call: a box in the colour of its state, with what the tool's view draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Run
from pi_tui.lines.box import boxed, inner_width
from pi_tui.lines.tools import view_of
from pi_tui.lines.user import image_rows
from pi_tui.lines.wrap import wrap
from pi_tui.view.of_tools import arguments_of

if TYPE_CHECKING:
    from pi_hookspecs import Line
    from pi_tui.lines.look import Look
    from pi_tui.view.blocks import Tool

__all__ = ["tool_rows"]

_BACKGROUNDS = {"pending": "toolPendingBg", "running": "toolPendingBg", "done": "toolSuccessBg", "error": "toolErrorBg"}

_LONGEST_TITLE = 10
"""Rows of a title, such as that of a long command, unless it is expanded."""


def tool_rows(block: Tool, look: Look) -> list[Line]:
    """Return the rows of a call."""
    width = inner_width(look.width)
    arguments, view = arguments_of(block), view_of(block.name)
    runs = view.title(arguments, look)
    if not runs or runs[0].role != "toolTitle":
        runs = [Run(block.name, "toolTitle", bold=True), *runs]
    rows = _title_rows(runs, width, look)
    body = view.body(block, arguments, look, width)
    rows += body + image_rows(block.images, width)
    return boxed(rows, _BACKGROUNDS[block.status], look.width)


def _title_rows(runs: list[Run], width: int, look: Look) -> list[Line]:
    lines: list[list[Run]] = [[]]
    for run in runs:
        first, *others = run.text.split("\n")
        lines[-1].append(run._replace(text=first))
        lines += [[run._replace(text=each)] for each in others]
    rows = [row for line in lines for row in wrap(line, width)]
    if look.expanded or len(rows) <= _LONGEST_TITLE:
        return rows
    return [
        *rows[: _LONGEST_TITLE - 1],
        *wrap([Run(f"... ({len(rows) - _LONGEST_TITLE + 1} more lines)", "muted")], width),
    ]

"""Plugins' lines above and below the editor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pi_tui.lines.foreign import foreign_rows

if TYPE_CHECKING:
    from pi_hookspecs import Line
    from pi_tui.view.state import State

__all__ = ["MOST_ROWS", "widget_lines"]

MOST_ROWS = 10
"""Most rows of a widget, so that the conversation stays visible."""


def widget_lines(state: State, placement: Literal["aboveEditor", "belowEditor"], width: int) -> list[Line]:
    """Return the rows of all widgets with a placement, one widget after the other."""
    return [
        row
        for widget in state.widgets.values()
        if widget.placement == placement
        for row in foreign_rows(widget.lines[:MOST_ROWS], width)
    ]

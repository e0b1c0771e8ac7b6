"""The widget of dialogs, in place of the editor. It puts the terminal's cursor where the dialog draws one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Offset

from pi_tui.lines.line import cells
from pi_tui.screen.clickable import Clickable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.geometry import Region
    from textual.strip import Strip

    from pi_hookspecs import Line

__all__ = ["DialogBox"]


class DialogBox(Clickable):
    """The widget of dialogs. Input methods display their composed text at the terminal's cursor."""

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the strips of a part of the widget."""
        cursor = _drawn_cursor(self.painted)
        if cursor is not None:
            self.app.cursor_position = self.region.offset + cursor
        return super().render_lines(crop)


def _drawn_cursor(lines: Iterable[Line]) -> Offset | None:
    """Return the position of the first reversed run, with which fields draw their cursor; None without one."""
    for row, line in enumerate(lines):
        cell = 0
        for run in line.runs:
            if run.reverse:
                return Offset(cell, row)
            cell += cells(run.text)
    return None

"""The widgets of the editor and of dialogs, which put the terminal's cursor where they draw one, for input methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Offset

from pi_tui.lines.line import cells
from pi_tui.lines.typed import editor_lines
from pi_tui.lines.work import rule
from pi_tui.screen.clickable import Clickable
from pi_tui.screen.painted import Painted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from textual.geometry import Region
    from textual.strip import Strip

    from pi_hookspecs import Line
    from pi_tui.editor.state import Editor
    from pi_tui.lines.look import Look
    from pi_tui.screen.strips import Painter


__all__ = ["DialogBox", "EditorBox"]

_PART = 3
"""The editor takes at most one part in this many of the screen's height."""


class EditorBox(Painted):
    """The widget of the editor. It puts the terminal's cursor on the drawn cursor, for input methods.

    Args:
        painter: Draws lines.
        has_keys: Returns whether keys go to the editor, and not to a search.
    """

    def __init__(self, painter: Painter, has_keys: Callable[[], bool]) -> None:
        super().__init__(painter, name="editor")
        self._has_keys = has_keys
        self._cursor = Offset(0, 1)

    def paint_editor(
        self,
        editor: Editor,
        look: Look,
        *,
        height: int,
        work: str,
        role: str,
        drawn: Sequence[Line] | None,
        ruled: bool = True,
    ) -> None:
        """Draw the editor, or a plugin's rows in ``drawn``, for a screen with ``height`` rows.

        Rows that are not ``ruled`` have rules of their own: there is one above them only while something works.
        """
        most = max(height // _PART, 1)
        if drawn is not None:
            self._cursor = Offset(0, 1)
            above = [rule(work, look, role)] if ruled or work else []
            self.paint([*above, *drawn[:most], *([rule("", look, role)] if ruled else [])])
            return
        lines, row, cell = editor_lines(editor, look, most, work=work, role=role)
        self._cursor = Offset(cell, row)
        self.paint(lines)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the strips of a part of the widget."""
        if self.painted and self._has_keys():
            self.app.cursor_position = self.region.offset + self._cursor
        return super().render_lines(crop)


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

"""Where the user types: a rule that says what is being done, the text, a rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Offset

from pi_tui.lines.typed import editor_lines
from pi_tui.lines.work import rule
from pi_tui.screen.painted import Painted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.geometry import Region
    from textual.strip import Strip

    from pi_hookspecs import Line
    from pi_tui.editor.state import Editor
    from pi_tui.lines.look import Look
    from pi_tui.screen.strips import Painter

__all__ = ["EditorBox"]

_PART = 3
"""The editor grows to this part of the screen."""


class EditorBox(Painted):
    """The widget of the editor. The terminal's cursor is where the drawn one is, for input methods."""

    def __init__(self, painter: Painter) -> None:
        super().__init__(painter, name="editor")
        self._cursor = Offset(0, 1)

    def paint_editor(
        self, editor: Editor, look: Look, *, height: int, work: str, role: str, drawn: Sequence[Line] | None
    ) -> None:
        """Draw an editor on a screen of some height, or the rows that a plugin has drawn of it."""
        most = max(height // _PART, 1)
        if drawn is not None:
            self._cursor = Offset(0, 1)
            self.paint([rule(work, look, role), *drawn[:most], rule("", look, role)])
            return
        lines, row, cell = editor_lines(editor, look, most, work=work, role=role)
        self._cursor = Offset(cell, row)
        self.paint(lines)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the strips of a part of the widget."""
        self.app.cursor_position = self.region.offset + self._cursor
        return super().render_lines(crop)

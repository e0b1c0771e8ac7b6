"""The lines of the editor: the typed text between two rules, with the cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Line, Run
from pi_tui.editor.clusters import clusters_of
from pi_tui.lines.work import rule

if TYPE_CHECKING:
    from pi_tui.editor.state import Editor
    from pi_tui.editor.wrap import Row
    from pi_tui.lines.look import Look

__all__ = ["editor_lines", "text_row", "text_width"]


def text_width(width: int) -> int:
    """Return the number of cells of a row of text; one is left free for a cursor after a full row."""
    return max(width - 1, 1)


def editor_lines(editor: Editor, look: Look, most: int, *, work: str, role: str) -> tuple[list[Line], int, int]:
    """Return the lines of the box, and the row and the cell of the cursor in it.

    Args:
        editor: The text and the cursor.
        look: The width, and the spinner character.
        most: Maximum number of displayed rows of text.
        work: A description of the current work; empty for none.
        role: The colour of the rules.
    """
    rows, place = editor.rows(text_width(look.width))
    first = min(max(place.row - most + 1, 0), max(len(rows) - most, 0))
    visible = rows[first : first + most]
    body = [
        Line(text_row(row, place.cell if first + number == place.row else None)) for number, row in enumerate(visible)
    ]
    below = len(rows) - first - len(visible)
    top = rule(work, look, role) if work or not first else _hidden(f"↑ {first} more", look, role)
    end = _hidden(f"↓ {below} more", look, role) if below else rule("", look, role)
    return [top, *body, end], place.row - first + 1, place.cell


def text_row(row: Row, cursor: int | None) -> tuple[Run, ...]:
    """Return the runs of a row of typed text, with a cursor before the given cell; without one if it is None."""
    if cursor is None:
        return (Run(row.shown),)
    used = 0
    for cluster in clusters_of(row.shown):
        if used >= cursor and cluster.cells:
            before, under, after = row.shown[: cluster.start], cluster.shown, row.shown[cluster.end :]
            return Run(before), Run(under, reverse=True), Run(after)
        used += cluster.cells
    return Run(row.shown), Run(" ", reverse=True)


def _hidden(text: str, look: Look, role: str) -> Line:
    label = f"── {text} "
    return Line.of(Run(f"{label}{'─' * max(look.width - len(label), 0)}"[: look.width], role))

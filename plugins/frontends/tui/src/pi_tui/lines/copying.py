"""From rows that the user selected back to the text that they were made of.

Rows that go on with the line of the row before have a mark, an empty run; what precedes it, such as the indentation of
a list, is no text. Padding is none, either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Run
from pi_tui.editor.clusters import clusters_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Line

__all__ = ["PADDING", "SAME_LINE", "SAME_LINE_AFTER_SPACE", "copied_text"]

SAME_LINE = Run("", "sameLine")
"""The mark of a row that goes on where the row before was full."""

SAME_LINE_AFTER_SPACE = Run("", "sameLineAfterSpace")
"""The mark of a row that goes on after a space, which is in neither row."""

PADDING = "padding"
"""The role of cells at the edges that are no text."""

_GAPS = {SAME_LINE: "", SAME_LINE_AFTER_SPACE: " "}


def copied_text(rows: Sequence[Line], first_cell: int = 0, last_cell: int | None = None) -> str:
    """Return the text of rows.

    Args:
        rows: From the first selected one to the last.
        first_cell: Cells of the first row that are not selected.
        last_cell: Cells of the last row that are selected; all of it when None.
    """
    text = ""
    for number, row in enumerate(rows):
        start = first_cell if number == 0 else 0
        end = last_cell if number == len(rows) - 1 else None
        gap, part = _part(row, start, end)
        text += part if number == 0 else ("\n" if gap is None else gap) + part
    return text


def _part(row: Line, start: int, end: int | None) -> tuple[str | None, str]:
    """Return what joins a row with the one before, None for a line break, and its selected text."""
    gap: str | None = None
    text, cell = "", 0
    for run in row.runs:
        if run in _GAPS:
            gap, text = _GAPS[run], ""
            continue
        for cluster in clusters_of(run.text):
            if run.role != PADDING and cell >= start and (end is None or cell < end):
                text += run.text[cluster.start : cluster.end]
            cell += cluster.cells
    return gap, text

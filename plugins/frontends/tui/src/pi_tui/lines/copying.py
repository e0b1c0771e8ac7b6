"""Conversion of selected rows back to the text from which they were laid out.

A row that continues the line of the previous row contains a mark, an empty run; what precedes the mark, such as the
indentation of a list, is not copied. Neither is padding.
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
"""The mark of a row that continues a line which was broken because the previous row was full."""

SAME_LINE_AFTER_SPACE = Run("", "sameLineAfterSpace")
"""The mark of a row that continues a line which was broken at a space; neither row contains that space."""

PADDING = "padding"
"""The role of cells at the edges that are not part of the text."""

_GAPS = {SAME_LINE: "", SAME_LINE_AFTER_SPACE: " "}


def copied_text(rows: Sequence[Line], first_cell: int = 0, last_cell: int | None = None) -> str:
    """Return the text of rows.

    Args:
        rows: The rows from the first to the last selected one.
        first_cell: Number of cells at the start of the first row that are not selected.
        last_cell: Cell of the last row at which the selection ends; None selects the whole row.
    """
    text = ""
    for number, row in enumerate(rows):
        start = first_cell if number == 0 else 0
        end = last_cell if number == len(rows) - 1 else None
        gap, part = _part(row, start, end)
        text += part if number == 0 else ("\n" if gap is None else gap) + part
    return text


def _part(row: Line, start: int, end: int | None) -> tuple[str | None, str]:
    """Return the text that joins a row to the previous row (None for a line break), and its selected text."""
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

"""Where moves lead: functions from a text and its cursor to an index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_tui.editor.clusters import MARKS, next_boundary, previous_boundary
from pi_tui.editor.wrap import Place, index_at, place_of, wrap

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_tui.editor.text import Text
    from pi_tui.editor.wrap import Labels

__all__ = ["jump", "left", "right", "rows_away", "word_left", "word_right"]


def left(text: Text) -> int:
    """Return the index a cluster left of the cursor."""
    return previous_boundary(text.text, text.cursor)


def right(text: Text) -> int:
    """Return the index a cluster right of the cursor."""
    return next_boundary(text.text, text.cursor)


def word_left(text: Text) -> int:
    """Return where the word before the cursor begins, or the run of punctuation; at the start of a line, the line's."""
    return _word(text.text, text.cursor, previous_boundary)


def word_right(text: Text) -> int:
    """Return where the word after the cursor ends, or the run of punctuation; at the end of a line, the next line."""
    return _word(text.text, text.cursor, next_boundary)


def jump(text: Text, character: str, *, forward: bool) -> int | None:
    """Return where a character is next, forward or back from the cursor; None if it is nowhere there."""
    found = text.text.find(character, right(text)) if forward else text.text.rfind(character, 0, text.cursor)
    return None if found < 0 else found


def rows_away(text: Text, rows: int, width: int, goal: int | None, labels: Labels = ()) -> tuple[int, int] | None:
    """Return the index some rows below the cursor and the column that moves up and down keep to.

    Args:
        text: The text.
        rows: How many rows; negative: above.
        width: Cells of a row.
        goal: The column of the moves before this one; None: the cursor's.
        labels: What is drawn for marks.

    Returns:
        The index and the column; None if the cursor is in the last row already, or in the first.
    """
    laid_out = wrap(text.text, width, labels)
    place = place_of(text.text, laid_out, text.cursor, width, labels)
    row = min(max(place.row + rows, 0), len(laid_out) - 1)
    if row == place.row:
        return None
    column = place.cell if goal is None else goal
    return index_at(text.text, laid_out, Place(row, column), width, labels), column


def _word(text: str, at: int, step: Callable[[str, int], int]) -> int:
    """Step over spaces, then over clusters of one kind; a newline and a paste are words of their own."""
    kind = ""
    while (beyond := step(text, at)) != at:
        stepped = _kind(text[min(at, beyond) : max(at, beyond)])
        if kind in {"", "space"} and stepped in {"newline", "paste"}:
            return at if kind and stepped == "newline" else beyond
        if kind not in {"", "space", stepped}:
            return at
        kind, at = stepped, beyond
    return at


def _kind(cluster: str) -> str:
    first = cluster[:1]
    if first == "\n":
        return "newline"
    if first and ord(first) in MARKS:
        return "paste"
    if first.isspace():
        return "space"
    return "word" if first.isalnum() or first == "_" else "punctuation"

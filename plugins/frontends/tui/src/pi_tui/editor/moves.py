"""Targets of cursor movements: functions from a text and its cursor to an index."""

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
    """Return the index one cluster left of the cursor."""
    return previous_boundary(text.text, text.cursor)


def right(text: Text) -> int:
    """Return the index one cluster right of the cursor."""
    return next_boundary(text.text, text.cursor)


def word_left(text: Text) -> int:
    """Return the start of the word or punctuation before the cursor; at a line's start, the previous line's end."""
    return _word(text.text, text.cursor, previous_boundary)


def word_right(text: Text) -> int:
    """Return the end of the word or punctuation after the cursor; at the end of a line, the next line's start."""
    return _word(text.text, text.cursor, next_boundary)


def jump(text: Text, character: str, *, forward: bool) -> int | None:
    """Return the index of the nearest occurrence of a character after or before the cursor; None if there is none."""
    found = text.text.find(character, right(text)) if forward else text.text.rfind(character, 0, text.cursor)
    return None if found < 0 else found


def rows_away(text: Text, rows: int, width: int, goal: int | None, labels: Labels = ()) -> tuple[int, int] | None:
    """Return the index some rows below the cursor, and the goal column of vertical moves.

    Args:
        text: The text.
        rows: Number of rows; negative numbers move up.
        width: Cells of a row.
        goal: The goal column of preceding vertical moves; None for the cursor's column.
        labels: The texts that are drawn for marks of pastes.

    Returns:
        The index and the goal column; None if the cursor is already in the last or first row.
    """
    laid_out = wrap(text.text, width, labels)
    place = place_of(text.text, laid_out, text.cursor, width, labels)
    row = min(max(place.row + rows, 0), len(laid_out) - 1)
    if row == place.row:
        return None
    column = place.cell if goal is None else goal
    return index_at(text.text, laid_out, Place(row, column), width, labels), column


def _word(text: str, at: int, step: Callable[[str, int], int]) -> int:
    """Step over spaces, then over clusters of one kind; newlines and pastes are words of their own."""
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

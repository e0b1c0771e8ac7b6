"""The selection made with the mouse. Its ends are places in blocks, so it keeps its text while rows move."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pi_tui.lines.copying import SAME_LINE, SAME_LINE_AFTER_SPACE, copied_text
from pi_tui.screen.marking import marked, word_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Line
    from pi_tui.lines.look import Look
    from pi_tui.screen.anchor import Anchor, Place

__all__ = ["Selection"]

_END = 1_000_000
"""A cell beyond the end of any row."""


class _Point(NamedTuple):
    place: Place
    cell: int


class Selection:
    """The selected part of the conversation.

    Args:
        anchor: Provides the rows of the conversation.
    """

    def __init__(self, anchor: Anchor) -> None:
        self._anchor = anchor
        self._from: _Point | None = None
        self._to: _Point | None = None

    def __bool__(self) -> bool:
        return self._from is not None and self._from != self._to

    def clear(self) -> None:
        """Clear the selection."""
        self._from = self._to = None

    def begin(self, place: Place, cell: int) -> None:
        """Start an empty selection before a cell."""
        self._from = self._to = _Point(place, max(cell, 0))

    def extend(self, place: Place, cell: int) -> None:
        """Move the end of the selection to a cell."""
        if self._from is not None:
            self._to = _Point(place, max(cell, 0))

    def take_word(self, place: Place, cell: int, look: Look) -> None:
        """Select the word at a cell."""
        first, last = word_cells(str(self._anchor.row(place, look)), cell)
        self._from, self._to = _Point(place, first), _Point(place, last)

    def take_line(self, place: Place, look: Look) -> None:
        """Select the line to which a row belongs, including all rows into which it was wrapped."""
        block, first = place
        last = first
        while first > 0 and _continues(self._anchor.row((block, first), look)):
            first -= 1
        while _continues(self._anchor.row((block, last + 1), look)):
            last += 1
        self._from, self._to = _Point((block, first), 0), _Point((block, last), _END)

    def marked(self, rows: Sequence[Line], places: Sequence[Place]) -> list[Line]:
        """Return the visible rows with the selection marked."""
        ends = self._ordered()
        if ends is None:
            return [*rows]
        first, last = ends
        drawn = []
        for row, place in zip(rows, places, strict=True):
            at = self._order(place)
            start = first.cell if at == self._order(first.place) else 0
            end = last.cell if at == self._order(last.place) else _END
            inside = self._order(first.place) <= at <= self._order(last.place)
            drawn.append(marked(row, start, end, "selectedBg") if inside else row)
        return drawn

    def text(self, look: Look) -> str:
        """Return the selected text; empty if nothing is selected."""
        ends = self._ordered()
        if ends is None:
            return ""
        first, last = ends
        return copied_text(self._anchor.rows_between(first.place, last.place, look), first.cell, last.cell)

    def _ordered(self) -> tuple[_Point, _Point] | None:
        if not self or self._from is None or self._to is None:
            return None
        ends = (self._from, self._to)
        if any(self._anchor.index(each.place[0]) is None for each in ends):
            return None  # a selected block was removed
        first, last = sorted(ends, key=lambda each: (*self._order(each.place), each.cell))
        return first, last

    def _order(self, place: Place) -> tuple[int, int]:
        index = self._anchor.index(place[0])
        return (-1 if index is None else index, place[1])


def _continues(row: Line) -> bool:
    return SAME_LINE in row.runs or SAME_LINE_AFTER_SPACE in row.runs

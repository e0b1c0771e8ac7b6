"""A model of the terminal's contents, used to write only differences: changed cells and scrolled rows."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate, pairwise
from operator import ne, or_
from typing import TYPE_CHECKING, NamedTuple

from pi_tui.frames_read import PLAIN, Styles, pieces, styled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pi_tui.frames_read import Piece

__all__ = ["Displayed"]

_UNKNOWN = "\uffff"
"""In place of the style of a cell whose contents are not known."""

_MOST_STYLES = 10_000
"""Styles after which everything is written anew, such as colours that a plugin computes for each frame."""

_GAP = 8
"""Maximum number of unchanged cells between two changes that are rewritten: moving the cursor takes as many bytes."""

_SHORTEST_ERASED = 4
"""Minimum number of blank cells at the end of a row that are erased rather than written: erasing takes three bytes."""

_SCROLL_SAVES = 40
"""Minimum number of cells that scrolling must save: its sequences take about half as many bytes."""


class Row(NamedTuple):
    """What is displayed in a row.

    Attributes:
        text: A character for each cell.
        marks: The style of each cell; empty if ``text`` is the output of a row that is compared as a whole, such as one
            with wide characters or links.
    """

    text: str
    marks: str

    @property
    def is_raw(self) -> bool:
        """Whether the row is compared as a whole."""
        return not self.marks


class Displayed:
    """The contents of the terminal's rows, as far as they are known.

    Args:
        scrolls: Whether the terminal can scroll a part of its rows.
    """

    def __init__(self, *, scrolls: bool) -> None:
        self._scrolls = scrolls
        self._known = False
        self._size = 0, 0
        self._rows: list[Row | None] = []
        self._styles = Styles()

    def forget(self) -> None:
        """Forget all rows, because another program may have drawn since. Signal handlers may call this."""
        self._known = False

    def changes(self, frame: str, width: int, height: int) -> str:
        """Return the output that draws a frame over the current contents; a final move of the cursor is kept.

        Args:
            frame: The complete output of the frame, independent of the current contents.
            width: Width of the terminal in cells.
            height: Height of the terminal in rows.
        """
        if not self._known or self._size != (width, height) or len(self._styles) > _MOST_STYLES:
            self._known, self._size, self._rows = True, (width, height), [None] * height
            self._styles = Styles()
        found = pieces(frame, self._styles)
        if not found or any(each.row >= height or each.end > width for each in found):
            self.forget()
            return frame
        by_row: dict[int, list[Piece]] = {}
        for piece in found:
            if piece.raw:
                by_row.setdefault(piece.row, []).append(piece)
        new = {row: self._drawn(row, written, width) for row, written in by_row.items()}
        parts = [self._scrolled(new)]
        for row, cells in new.items():
            before, self._rows[row] = self._rows[row], cells
            if cells is not None and before is not None and not cells.is_raw:
                written = slice(0, width) if parts[0] else _written(by_row[row])
                parts += _row_changes(row, before, cells, self._styles, written)
            elif cells is None or cells != before:
                parts += [f"{_move(row, each.column)}{each.raw}" for each in by_row[row]]
        return "".join([*parts, "" if found[-1].raw else _move(found[-1].row, found[-1].column)])

    def _drawn(self, row: int, written: Sequence[Piece], width: int) -> Row | None:
        """Return a row after pieces were written to it; None if its contents are not fully known."""
        if any(piece.marks is None for piece in written):
            (first, *others) = written
            is_whole = not others and first.column == 0 and first.end == width
            return Row(first.raw, "") if is_whole else None
        known = self._rows[row]
        text, marks = (" " * width, _UNKNOWN * width) if known is None or known.is_raw else known
        for piece in written:
            text = text[: piece.column] + piece.text + text[piece.end :]
            marks = marks[: piece.column] + (piece.marks or "") + marks[piece.end :]
        return None if _UNKNOWN in marks or len(text) != width else Row(text, marks)

    # Scrolling

    def _scrolled(self, new: dict[int, Row | None]) -> str:
        """Scroll a region of rows that only moved, if that saves enough; return the output for it or an empty text."""
        found = self._movement(new) if self._scrolls and len(new) >= _FEWEST_ROWS else None
        if found is None:
            return ""
        by, top, bottom = found
        rows = self._rows[top:bottom]
        blank = self._blank()
        moved = [*rows[by:], *[blank] * by] if by > 0 else [*[blank] * -by, *rows[:by]]
        targets = [new.get(row, self._rows[row]) for row in range(top, bottom)]
        if None in rows or None in targets or _leaves_raw(moved, targets, top, new):
            return ""
        enough = sum(_differing(moved, targets, self._size[0])) + _SCROLL_SAVES
        if not any(count >= enough for count in accumulate(_differing(rows, targets, self._size[0]))):
            return ""
        self._rows[top:bottom] = moved
        for row, target in zip(range(top, bottom), targets, strict=True):
            new.setdefault(row, target)
        lines = _move(bottom - 1, 0) + "\n" * by if by > 0 else _move(top, 0) + "\x1bM" * -by
        return f"\x1b[{top + 1};{bottom}r{lines}\x1b[r"

    def _blank(self) -> Row:
        return Row(" " * self._size[0], PLAIN * self._size[0])

    def _movement(self, new: Mapping[int, Row | None]) -> tuple[int, int, int] | None:
        """Return by how many rows most rows moved up, and the start and the end of the region to scroll."""
        places: dict[Row, list[int]] = {}
        blank = self._blank()
        for row, cells in enumerate(self._rows):
            if cells is not None and cells != blank:
                places.setdefault(cells, []).append(row)
        votes: Counter[int] = Counter()
        moves: list[tuple[int, int]] = []
        for row, cells in new.items():
            olds = places.get(cells, ()) if cells is not None else ()
            moves += [(old - row, row) for old in olds]
            votes.update({old - row: _VOTES // len(olds) for old in olds})
        by = max(votes, key=lambda each: votes[each], default=0)
        rows = [row for each, row in moves if each == by]
        if not by or len(rows) < _FEWEST_ROWS:
            return None
        return by, min(*rows, min(rows) + by), max(*rows, max(rows) + by) + 1


_VOTES = 1000
"""Votes of a row, divided among all positions at which the same row was displayed before."""

_FEWEST_ROWS = 2
"""Minimum number of rows that must have moved."""


def _move(row: int, column: int) -> str:
    return f"\x1b[{row + 1};{column + 1}H"


def _differing(rows: Sequence[Row | None], targets: Sequence[Row | None], width: int) -> Iterator[int]:
    """Yield for each row the number of cells that differ."""
    for row, target in zip(rows, targets, strict=True):
        if row is None or target is None:
            yield width
        elif row != target:
            yield width if row.is_raw or target.is_raw else sum(_differ(row, target))


def _differ(one: Row, other: Row) -> Iterator[bool]:
    """Yield for each cell whether it differs."""
    return map(or_, map(ne, one.text, other.text), map(ne, one.marks, other.marks))


def _leaves_raw(
    moved: Sequence[Row | None], targets: Sequence[Row | None], top: int, new: Mapping[int, Row | None]
) -> bool:
    """Whether scrolling would require rewriting a row that the frame does not contain and whose cells are unknown."""
    rows = enumerate(zip(moved, targets, strict=True), top)
    return any(row not in new and before != after and after and after.is_raw for row, (before, after) in rows)


def _written(written: Sequence[Piece]) -> slice:
    """Return the columns of a row that a frame writes."""
    return slice(min(each.column for each in written), max(each.end for each in written))


def _row_changes(row: int, before: Row, after: Row, styles: Styles, written: slice) -> Iterator[str]:
    """Yield the output that writes the changed cells of a row; there are none outside of the written columns."""
    if before == after:
        return
    if before.is_raw:
        changed = [*range(len(after.text))]
    else:
        one, other = (Row(each.text[written], each.marks[written]) for each in (before, after))
        changed = [column for column, differs in enumerate(_differ(one, other), written.start) if differs]
    end = max(len(after.text.rstrip(" ")), len(after.marks.rstrip(PLAIN)))
    is_erased = sum(column >= end for column in changed) >= _SHORTEST_ERASED
    columns = [column for column in changed if column < end] if is_erased else changed
    cuts = [at for at, (left, right) in enumerate(pairwise(columns), 1) if right - left > _GAP]
    for start, stop in pairwise([0, *cuts, len(columns)]):
        if start < stop:
            first, last = columns[start], columns[stop - 1] + 1
            yield _move(row, first) + styled(after.text[first:last], after.marks[first:last], styles)
    if is_erased:
        yield f"{_move(row, end)}\x1b[K"

"""A model of the terminal's contents, used to write only differences: changed cells and scrolled rows."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from pi_tui.frames_read import BLANK, Cell, cells_written, pieces

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pi_tui.frames_read import Piece

__all__ = ["Displayed"]

Row = tuple[Cell, ...]

_RAW = "raw"
"""The style of the single cell that represents a row compared as a whole, such as one with wide characters or links."""

_GAP = 8
"""Maximum number of unchanged cells between two changes that are rewritten: moving the cursor takes as many bytes."""

_SHORTEST_ERASED = 4
"""Minimum number of blank cells at the end of a row that are erased rather than written: erasing takes three bytes."""

_SCROLL_SAVES = 40
"""Minimum number of cells that scrolling must save: its sequences take about half as many bytes."""


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
        if not self._known or self._size != (width, height):
            self._known, self._size, self._rows = True, (width, height), [None] * height
        found = pieces(frame)
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
            if cells is not None and before is not None and not _is_raw(cells):
                parts += _row_changes(row, before, cells)
            elif cells is None or cells != before:
                parts += [f"{_move(row, each.column)}{each.raw}" for each in by_row[row]]
        return "".join([*parts, "" if found[-1].raw else _move(found[-1].row, found[-1].column)])

    def _drawn(self, row: int, written: Sequence[Piece], width: int) -> Row | None:
        """Return a row after pieces were written to it; None if its contents are not fully known."""
        if any(piece.cells is None for piece in written):
            (first, *others) = written
            is_whole = not others and first.column == 0 and first.end == width
            return ((first.raw, _RAW),) if is_whole else None
        known = self._rows[row]
        cells: list[Cell | None] = [None] * width if known is None or _is_raw(known) else [*known]
        for piece in written:
            cells[piece.column : piece.end] = piece.cells or []
        complete = tuple(each for each in cells if each is not None)
        return complete if len(complete) == width else None

    # Scrolling

    def _scrolled(self, new: dict[int, Row | None]) -> str:
        """Scroll a region of rows that only moved, if that saves enough; return the output for it or an empty text."""
        found = self._movement(new) if self._scrolls and len(new) >= _FEWEST_ROWS else None
        if found is None:
            return ""
        by, top, bottom = found
        rows = self._rows[top:bottom]
        blank: Row = (BLANK,) * self._size[0]
        moved = [*rows[by:], *[blank] * by] if by > 0 else [*[blank] * -by, *rows[:by]]
        targets = [new.get(row, self._rows[row]) for row in range(top, bottom)]
        saved = _differing(rows, targets, self._size[0]) - _differing(moved, targets, self._size[0])
        if None in rows or None in targets or saved < _SCROLL_SAVES or _leaves_raw(moved, targets, top, new):
            return ""
        self._rows[top:bottom] = moved
        for row, target in zip(range(top, bottom), targets, strict=True):
            new.setdefault(row, target)
        lines = _move(bottom - 1, 0) + "\n" * by if by > 0 else _move(top, 0) + "\x1bM" * -by
        return f"\x1b[{top + 1};{bottom}r{lines}\x1b[r"

    def _movement(self, new: Mapping[int, Row | None]) -> tuple[int, int, int] | None:
        """Return by how many rows most rows moved up, and the start and the end of the region to scroll."""
        places: dict[Row, list[int]] = {}
        blank = (BLANK,) * self._size[0]
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


def _is_raw(row: Row) -> bool:
    return row[0][1] == _RAW


def _move(row: int, column: int) -> str:
    return f"\x1b[{row + 1};{column + 1}H"


def _differing(rows: Sequence[Row | None], targets: Sequence[Row | None], width: int) -> int:
    """Return the number of cells that differ."""
    count = 0
    for row, target in zip(rows, targets, strict=True):
        if row is None or target is None or (row != target and (_is_raw(row) or _is_raw(target))):
            count += width
        elif row is not target:
            count += sum(one != other for one, other in zip(row, target, strict=True))
    return count


def _leaves_raw(
    moved: Sequence[Row | None], targets: Sequence[Row | None], top: int, new: Mapping[int, Row | None]
) -> bool:
    """Whether scrolling would require rewriting a row that the frame does not contain and whose cells are unknown."""
    rows = enumerate(zip(moved, targets, strict=True), top)
    return any(row not in new and before != after and after and _is_raw(after) for row, (before, after) in rows)


def _row_changes(row: int, before: Row, after: Row) -> Iterator[str]:
    """Yield the output that writes the changed cells of a row."""
    if before == after:
        return
    old = [None] * len(after) if _is_raw(before) else before
    changed = [column for column, (one, other) in enumerate(zip(old, after, strict=True)) if one != other]
    end = len(after)
    while end and after[end - 1] == BLANK:
        end -= 1
    is_erased = sum(column >= end for column in changed) >= _SHORTEST_ERASED
    written = [column for column in changed if column < end] if is_erased else changed
    cuts = [at for at, (one, other) in enumerate(pairwise(written), 1) if other - one > _GAP]
    for start, stop in pairwise([0, *cuts, len(written)]):
        if start < stop:
            first, last = written[start], written[stop - 1] + 1
            yield _move(row, first) + cells_written(after[first:last])
    if is_erased:
        yield f"{_move(row, end)}\x1b[K"

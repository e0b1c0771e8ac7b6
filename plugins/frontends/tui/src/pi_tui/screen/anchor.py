"""The visible rows of the transcript: those from a given row of a block, or the last ones.

A position is never an absolute row, so the visible rows do not move while other blocks grow, and only visible blocks
are laid out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from attrs import evolve

from pi_hookspecs import Line
from pi_tui.lines.cache import LayoutCache
from pi_tui.lines.layout import FixedRows
from pi_tui.screen.heights import Heights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_tui.lines.layout import Rows
    from pi_tui.lines.look import Look
    from pi_tui.view.state import State

__all__ = ["Anchor", "Place"]

Place: TypeAlias = tuple[str, int]
"""A row: the id of its block, which is empty for the header, and the row's number in the block."""

_HEAD = ""
"""The id of the header, which comes before the first block."""


class Anchor:
    """The visible part of the transcript.

    Args:
        state: The state with the blocks.

    Attributes:
        cache: The rows of blocks.
        head: The header, which scrolls with the blocks.
        toggled: Ids of blocks that are expanded while others are collapsed, or the other way round.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self.cache = LayoutCache()
        self.head: Rows = FixedRows([])
        self.toggled: set[str] = set()
        self._top: Place | None = None
        self._heights = Heights(state)

    @property
    def follows(self) -> bool:
        """Whether the end stays visible while the transcript grows."""
        return self._top is None

    def set_head(self, lines: Sequence[Line]) -> None:
        """Replace the header."""
        self.head = _Head(lines)

    def visible(self, height: int, look: Look) -> list[Line]:
        """Return the visible rows, at most ``height``."""
        index, line = self._at(height, look)
        rows: list[Line] = []
        while len(rows) < height and index <= len(self._state.blocks):
            rows += self._rows(index, look).window(line, line + height - len(rows))
            index, line = index + 1, 0
        return rows

    def scroll(self, by: int, height: int, look: Look) -> None:
        """Scroll down by some rows, or up if negative; at the end, follow it."""
        index, line = self._at(height, look)
        line += by
        while line < 0 < index:
            index -= 1
            line += len(self._rows(index, look))
        while index < len(self._state.blocks) and line >= len(self._rows(index, look)):
            line -= len(self._rows(index, look))
            index += 1
        self._move(index, max(line, 0), height, look)

    def to_top(self, height: int, look: Look) -> None:
        """Scroll to the beginning."""
        self._move(0, 0, height, look)

    def to_end(self) -> None:
        """Follow the end."""
        self._top = None

    def to_prompt(self, step: int, height: int, look: Look) -> None:
        """Display the user's previous message (-1) or next message (1) at the top."""
        index, line = self._at(height, look)
        index += step if step > 0 or line == 0 else 0
        while 0 < index <= len(self._state.blocks):
            if self._state.blocks[index - 1].kind == "user":
                self._move(index, 0, height, look)
                return
            index += step
        if step < 0:
            self.to_top(height, look)
        else:
            self.to_end()

    def share(self, height: int, look: Look) -> tuple[float, float]:
        """Return where the visible rows begin and end, as fractions of the estimated total height."""
        index, line = self._at(height, look)
        head, blocks = len(self.head), len(self._state.blocks)
        before = line + (head + self._heights.before(index - 1, look) if index else 0)
        total = max(head + self._heights.before(blocks, look), 1)
        return min(before / total, 1.0), min((before + height) / total, 1.0)

    def to_share(self, share: float, height: int, look: Look) -> None:
        """Scroll to a fraction of the estimated total height."""
        head, blocks = len(self.head), len(self._state.blocks)
        wanted = int((head + self._heights.before(blocks, look)) * share)
        if wanted < head or not blocks:
            self._move(0, wanted, height, look)
            return
        number, line = self._heights.at(wanted - head, look)
        self._move(number + 1, line, height, look)

    def show(self, place: Place, height: int, look: Look) -> None:
        """Scroll a row to the middle, unless it is already visible."""
        if place not in self.places(height, look):
            index = self.index(place[0])
            self._top = (self._id(index or 0), place[1])
            self.scroll(-(height // 2), height, look)

    # Access to rows by place

    def index(self, block_id: str) -> int | None:
        """Return the index of a block, where 0 is the header; None if the block was removed."""
        if block_id == _HEAD:
            return 0
        number = self._state.number(block_id)
        return None if number is None else number + 1

    def places(self, height: int, look: Look) -> list[Place]:
        """Return the places of the visible rows."""
        index, line = self._at(height, look)
        found: list[Place] = []
        while len(found) < height and index <= len(self._state.blocks):
            last = min(len(self._rows(index, look)), line + height - len(found))
            found += [(self._id(index), number) for number in range(line, last)]
            index, line = index + 1, 0
        return found

    def row(self, place: Place, look: Look) -> Line:
        """Return the row at a place; a blank row if it does not exist."""
        index = self.index(place[0])
        rows = [] if index is None else self._rows(index, look).window(place[1], place[1] + 1)
        return rows[0] if rows else Line()

    def block_rows(self, block_id: str, look: Look) -> list[Line]:
        """Return all rows of a block."""
        index = self.index(block_id)
        rows = None if index is None else self._rows(index, look)
        return [] if rows is None else rows.window(0, len(rows))

    def rows_between(self, first: Place, last: Place, look: Look) -> list[Line]:
        """Return the rows from one place to another, both included."""
        begin, end = self.index(first[0]), self.index(last[0])
        if begin is None or end is None:
            return []
        found: list[Line] = []
        for number in range(begin, end + 1):
            rows = self._rows(number, look)
            stop = last[1] + 1 if number == end else len(rows)
            found += rows.window(first[1] if number == begin else 0, stop)
        return found

    def forget(self, *block_ids: str) -> None:
        """Drop the cached rows of removed blocks."""
        self.cache.forget(*block_ids)

    def clear(self) -> None:
        """Drop all cached rows and follow the end, since the conversation was replaced."""
        self.cache.clear()
        self._heights.clear()
        self.toggled.clear()
        self._top = None

    def _move(self, index: int, line: int, height: int, look: Look) -> None:
        self._top = None if (index, line) >= self._end(height, look) else (self._id(index), line)

    def _at(self, height: int, look: Look) -> tuple[int, int]:
        """Return the first visible row: the index of its block, where 0 is the header, and its number in the block."""
        if self._top is None:
            return self._end(height, look)
        block_id, line = self._top
        index = self.index(block_id)
        if index is None:
            self._top = None
            return self._end(height, look)
        here = index, max(min(line, len(self._rows(index, look)) - 1), 0)
        return min(here, self._end(height, look))

    def _end(self, height: int, look: Look) -> tuple[int, int]:
        missing = height
        for index in range(len(self._state.blocks), -1, -1):
            count = len(self._rows(index, look))
            if count >= missing:
                return index, count - missing
            missing -= count
        return 0, 0

    def _id(self, index: int) -> str:
        return self._state.blocks[index - 1].id if index else _HEAD

    def _rows(self, index: int, look: Look) -> Rows:
        if index == 0:
            return self.head
        block = self._state.blocks[index - 1]
        return self.cache.rows(block, evolve(look, expanded=not look.expanded) if block.id in self.toggled else look)


class _Head(FixedRows):
    """The header, without a blank row above it."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._rows = [*lines]

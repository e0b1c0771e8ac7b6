"""Estimates where blocks are in the transcript, for the scrollbar, at little cost in a long session."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from pi_tui.lines.heights import estimated_heights, extent_of

if TYPE_CHECKING:
    from pi_tui.lines.heights import Extent
    from pi_tui.lines.look import Look
    from pi_tui.view.state import State

__all__ = ["Heights"]

_GROWING = 20
"""Blocks at the end whose heights are estimated each time, since they may still change."""


class Heights:
    """Cumulative estimated heights of blocks.

    Args:
        state: The state with the blocks.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._extents: list[Extent] = []
        self._kept: list[int] = [0]
        self._of: tuple[object, ...] = ()

    def clear(self) -> None:
        """Drop all estimates, since the conversation was replaced."""
        self._extents, self._kept = [], [0]

    def before(self, number: int, look: Look) -> int:
        """Return the estimated number of rows before the block with an index."""
        kept, rest = self._sums(look)
        return kept[number] if number < len(kept) else rest[number - len(kept) + 1]

    def at(self, row: int, look: Look) -> tuple[int, int]:
        """Return the index of the block that contains a row, or else of the last block, and the row's number in it."""
        kept, rest = self._sums(look)
        sums, first = (kept, 0) if row < kept[-1] else (rest, len(kept) - 1)
        found = min(bisect_right(sums, row) - 1, max(len(sums) - 2, 0))
        return first + found, row - sums[found]

    def _sums(self, look: Look) -> tuple[list[int], list[int]]:
        """Return the rows before each block in two lists: the settled blocks, which are cached, and the last ones.

        The extent of a settled block is cached for all widths, so its text is not read again after a resize.
        """
        blocks = self._state.blocks
        of = (look.width, look.expanded, look.hide_thinking)
        settled = max(len(blocks) - _GROWING, 0)
        if len(self._extents) > len(blocks):
            self.clear()
        if of != self._of:
            self._of, self._kept = of, [0]
        self._extents += [extent_of(each) for each in blocks[len(self._extents) : settled]]
        new = estimated_heights(self._extents[len(self._kept) - 1 :], look)
        self._kept[-1:] = accumulate(new, initial=self._kept[-1])
        last = estimated_heights(map(extent_of, blocks[len(self._kept) - 1 :]), look)
        return self._kept, [*accumulate(last, initial=self._kept[-1])]

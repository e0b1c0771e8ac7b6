"""A least-recently-used cache of laid-out rows, so that a frame lays out only what changed."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from attrs import define, evolve

from pi_tui.lines.answer import MarkdownRows
from pi_tui.lines.layout import Rows, lay_out

if TYPE_CHECKING:
    from pi_tui.lines.look import Look
    from pi_tui.view.blocks import Block

__all__ = ["LayoutCache"]

MOST_BLOCKS = 400

MOST_BYTES = 8_000_000

_ROW_BYTES = 400
"""Estimated bytes of a row: its text, and the objects that hold it."""


@define(eq=False)
class _Entry:
    revision: int
    tick: float
    look: Look
    rows: Rows
    size: int = 0


class LayoutCache:
    """The rows of blocks, by block, revision and look.

    Args:
        most_blocks: Maximum number of blocks whose rows are kept.
        most_bytes: Maximum estimated size of all rows; those of the most recently used block are kept whatever their
            size.
    """

    def __init__(self, most_blocks: int = MOST_BLOCKS, most_bytes: int = MOST_BYTES) -> None:
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._most_blocks = most_blocks
        self._most_bytes = most_bytes
        self._size = 0

    def __len__(self) -> int:
        return len(self._entries)

    def rows(self, block: Block, look: Look) -> Rows:
        """Return the rows of a block; the rows of a running block are laid out again as time passes."""
        tick = round(look.now, 1) if _is_running(block) else 0.0
        look = look if tick else evolve(look, now=0.0, spinner="")
        entry = self._entries.get(block.id)
        if entry is None or entry.look != look:
            entry = _Entry(block.revision, tick, look, lay_out(block, look))
        elif entry.revision != block.revision or entry.tick != tick:
            if isinstance(entry.rows, MarkdownRows):
                entry.rows.update()
            else:
                entry.rows = lay_out(block, look)
            entry.revision, entry.tick = block.revision, tick
        self._keep(block.id, entry)
        return entry.rows

    def _keep(self, block_id: str, entry: _Entry) -> None:
        """Mark an entry as most recently used, and drop entries that exceed the limits."""
        self.forget(block_id)
        entry.size = len(entry.rows) * _ROW_BYTES
        self._entries[block_id] = entry
        self._size += entry.size
        while len(self._entries) > 1 and (len(self._entries) > self._most_blocks or self._size > self._most_bytes):
            self._size -= self._entries.popitem(last=False)[1].size

    def forget(self, *block_ids: str) -> None:
        """Drop the rows of blocks that no longer exist."""
        for block_id in block_ids:
            entry = self._entries.pop(block_id, None)
            self._size -= 0 if entry is None else entry.size

    def clear(self) -> None:
        """Drop all rows."""
        self._entries.clear()
        self._size = 0


def _is_running(block: Block) -> bool:
    return block.kind in ("bash", "tool") and (
        getattr(block, "running", False) or getattr(block, "status", "") == "running"
    )

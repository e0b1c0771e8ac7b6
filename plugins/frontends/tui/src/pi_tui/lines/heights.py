"""How many rows blocks have that were not laid out: enough for a scrollbar, and for where a click on it leads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_tui.view.texts import text_of_block

if TYPE_CHECKING:
    from pi_tui.lines.look import Look
    from pi_tui.view.blocks import Block

__all__ = ["estimated_height"]

_FRAMES = {"user": 3, "tool": 4, "bash": 4, "summary": 5, "custom": 4}
"""Rows around the text: the blank one in front, the edges of a box, a title."""

_PREVIEWS = {"tool": 11, "bash": 21, "summary": 0}
"""Greatest number of text rows of a block that is not expanded."""


def estimated_height(block: Block, look: Look) -> int:
    """Return about how many rows a block has; it counts characters and line breaks, and lays out nothing."""
    if block.kind == "thinking" and look.hide_thinking:
        return 2
    if block.kind == "tool" and block.name == "read" and not look.expanded and block.status != "error":
        return _FRAMES["tool"]
    text = text_of_block(block)
    if not text and block.kind not in _FRAMES:
        return 0
    rows = text.count("\n") + 1 + len(text) // max(look.width, 1) if text else 0
    most = _PREVIEWS.get(block.kind)
    if most is not None and not look.expanded:
        rows = min(rows, most)
    return rows + _FRAMES.get(block.kind, 1)

"""Estimated heights of blocks that are not laid out, precise enough for a scrollbar and clicks on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pi_tui.view.blocks import text_of_block

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pi_tui.lines.look import Look
    from pi_tui.view.blocks import Block

__all__ = ["Extent", "estimated_heights", "extent_of"]

_FRAMES = {"user": 3, "tool": 4, "read": 4, "bash": 4, "summary": 5, "custom": 4}
"""Rows around the text: the blank row in front, the edges of a box, a title."""

_PREVIEWS = {"tool": 11, "read": 0, "bash": 21, "summary": 0}
"""Maximum number of text rows of a block that is not expanded."""

_READ = "read"
"""The kind of a tool's block that displays no text until it is expanded."""


class Extent(NamedTuple):
    """The properties of a block that determine its height, apart from the look.

    Attributes:
        kind: Kind of the block; `read` for a call of that tool that did not fail.
        lines: Number of lines of its text; 0 without text.
        letters: Number of characters of its text.
    """

    kind: str
    lines: int
    letters: int


def extent_of(block: Block) -> Extent:
    """Count the lines and characters of a block without laying it out."""
    is_read = block.kind == "tool" and block.name == "read" and block.status != "error"
    text = text_of_block(block)
    return Extent(_READ if is_read else block.kind, text.count("\n") + 1 if text else 0, len(text))


def estimated_heights(extents: Iterable[Extent], look: Look) -> Iterator[int]:
    """Yield the approximate number of rows of each block; a resized terminal needs it for a whole conversation."""
    width = max(look.width, 1)
    previews = {} if look.expanded else _PREVIEWS
    for kind, lines, letters in extents:
        if kind == "thinking" and look.hide_thinking:
            yield 2
        elif not letters and kind not in _FRAMES:
            yield 0
        else:
            rows = lines + letters // width
            most = previews.get(kind, rows)
            yield (min(most, rows)) + _FRAMES.get(kind, 1)

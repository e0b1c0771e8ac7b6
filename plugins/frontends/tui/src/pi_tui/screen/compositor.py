"""Textual's compositor, which renders only the widgets that are seen in the rows that are painted.

Textual renders every visible widget for each change of one; a key or a delta changes one row of a dozen widgets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual._compositor import ChopsUpdate, Compositor, CompositorUpdate
from textual.geometry import Region

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console
    from textual.strip import Strip

__all__ = ["RowCompositor", "RowsUpdate"]


_FEW = 4
"""Rows up to which each is painted by itself; for more, cutting the screen into pieces once takes less time."""


class RowsUpdate(CompositorUpdate):
    """Parts of rows, each of one widget.

    Args:
        parts: The column, the row and the strip of each.
    """

    def __init__(self, parts: Iterable[tuple[int, int, Strip]]) -> None:
        self._parts = parts

    def render_segments(self, console: Console) -> str:
        """Return the output that writes them."""
        return "".join([f"\x1b[{y + 1};{x + 1}H{strip.render(console)}" for x, y, strip in self._parts])


class RowCompositor(Compositor):
    """Leaves out widgets above, below and behind what is painted."""

    def render_partial_update(self) -> ChopsUpdate | RowsUpdate | None:  # type: ignore[override]  # for the same use
        """Return what has changed; None if nothing has."""
        dirty = [self.size.region.intersection(each) for each in self._dirty_regions]
        if len(dirty) <= _FEW and all(each.height == 1 for each in dirty):
            parts = [self._part(each) for each in dirty]
            found = [each for each in parts if each is not None]
            if found and len(found) == len(parts):
                self._dirty_regions.clear()
                return RowsUpdate(found)
        return super().render_partial_update()

    def _part(self, dirty: Region) -> tuple[int, int, Strip] | None:
        """Return a part of a row if one widget alone is seen there."""
        for widget, (region, clip) in self.visible_widgets.items():  # from the front to the back
            if not region.y <= dirty.y < region.y + region.height:
                continue
            seen = region.intersection(clip)
            if seen.contains_region(dirty):
                (strip,) = widget.render_lines(dirty.translate(-region.offset))
                return dirty.x, dirty.y, strip
            if seen.overlaps(dirty):
                return None
        return None

    def _get_renders(self, crop: Region | None = None) -> Iterator[tuple[Region, Region, list[Strip]]]:
        rows = self.size.region if crop is None else Region(0, crop.y, self.size.width, crop.height)
        for widget, (region, clip) in self.visible_widgets.items():  # from the front to the back
            seen = region.intersection(clip)
            if seen.y < rows.bottom and rows.y < seen.bottom and seen.width:
                yield region, clip, widget.render_lines(seen.translate(-region.offset))
                if seen.contains_region(rows):
                    return

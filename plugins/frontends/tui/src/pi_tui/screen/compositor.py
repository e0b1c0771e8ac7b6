"""Textual's compositor, which renders only the widgets that are seen in the rows that are painted.

Textual renders every visible widget for each change of one; a key or a delta changes one row of a dozen widgets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual._compositor import Compositor
from textual.geometry import Region

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.strip import Strip

__all__ = ["RowCompositor"]


class RowCompositor(Compositor):
    """Leaves out widgets above, below and behind what is painted."""

    def _get_renders(self, crop: Region | None = None) -> Iterator[tuple[Region, Region, list[Strip]]]:
        rows = self.size.region if crop is None else Region(0, crop.y, self.size.width, crop.height)
        for widget, (region, clip) in self.visible_widgets.items():  # from the front to the back
            seen = region.intersection(clip)
            if seen.y < rows.bottom and rows.y < seen.bottom and seen.width:
                yield region, clip, widget.render_lines(seen.translate(-region.offset))
                if seen.contains_region(rows):
                    return

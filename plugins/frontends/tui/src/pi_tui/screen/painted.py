"""A widget that consists of lines only; its height is their number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widget import Widget

from pi_tui.screen.differences import changed_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.geometry import Region
    from textual.strip import Strip

    from pi_hookspecs import Line
    from pi_tui.screen.strips import Painter

__all__ = ["Painted"]


class Painted(Widget):
    """Draws lines; the layout changes only when their number changes.

    Args:
        painter: Draws the lines.
    """

    def __init__(self, painter: Painter, *, name: str) -> None:
        super().__init__(id=name)
        self.painter = painter
        self.painted: Sequence[Line] = ()
        self.styles.height = 0

    def paint(self, lines: Sequence[Line]) -> None:
        """Replace the lines, and redraw the changed cells."""
        if not lines and not self.painted:
            return
        if len(lines) != len(self.painted):
            self.styles.height = len(lines)
            self.painted = lines
            self.refresh()
            return
        changed = changed_cells(self.painted, lines, self.outer_size.width)  # it has no border; ``size`` computes that
        self.painted = lines
        if changed and self.is_mounted:
            self._draw_cells(changed)
        elif changed:
            self.refresh(*changed)

    def _draw_cells(self, regions: Sequence[Region]) -> None:
        """Redraw cells, as ``refresh`` does for widgets that have styles and a layout of their own."""
        self._dirty_regions.update(regions)
        self._repaint_regions.update(regions)
        self._repaint_required = True
        if not self.painter.paints_now:
            self.check_idle()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the strips of a part of the widget."""
        return self.painter.strips(self.painted, crop, self.outer_size.width)

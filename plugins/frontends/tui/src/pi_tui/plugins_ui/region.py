"""The region of an overlay, from its anchor, margin, offset, and size in cells or as a share of the screen."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pi_hookspecs import Overlay, ScreenSize

__all__ = ["Region", "height_of", "region_of", "width_of"]

_USUAL_PART = 0.6
"""Default width of an overlay, as a share of the screen's width."""


class Region(NamedTuple):
    """A part of the screen, in cells."""

    x: int
    y: int
    width: int
    height: int


def width_of(overlay: Overlay, size: ScreenSize) -> int:
    """Return the width of an overlay, at least 1."""
    room = max(size.width - 2 * max(overlay.margin, 0), 1)
    wanted = _cells(overlay.width, size.width)
    wanted = round(size.width * _USUAL_PART) if wanted is None else wanted
    return max(min(max(wanted, overlay.min_width), room), 1)


def height_of(overlay: Overlay, size: ScreenSize) -> int:
    """Return the maximum height of an overlay, at least 1."""
    room = max(size.height - 2 * max(overlay.margin, 0), 1)
    wanted = _cells(overlay.height, size.height)
    return max(min(room if wanted is None else wanted, room), 1)


def region_of(overlay: Overlay, size: ScreenSize, rows: int) -> Region:
    """Return the region of an overlay with the given number of rows; it never extends beyond the screen."""
    width, height = width_of(overlay, size), max(min(rows, height_of(overlay, size)), 1)
    across, down = _parts(overlay.anchor)
    margin = max(overlay.margin, 0)
    x = _placed(across, size.width, width, margin) + overlay.offset[0]
    y = _placed(down, size.height, height, margin) + overlay.offset[1]
    x, y = min(x, size.width - width), min(y, size.height - height)
    return Region(max(int(x), 0), max(int(y), 0), int(width), int(height))


def _placed(part: float, room: int, length: int, margin: int) -> int:
    return round(margin + part * (room - length - 2 * margin))


def _parts(anchor: str) -> tuple[float, float]:
    across = 0.0 if "left" in anchor else 1.0 if "right" in anchor else 0.5
    down = 0.0 if "top" in anchor else 1.0 if "bottom" in anchor else 0.5
    return across, down


def _cells(length: int | str | None, room: int) -> int | None:
    """Return a size in cells; None if there is no valid size."""
    if isinstance(length, int):
        return length
    found = re.fullmatch(r"\s*(\d{1,3}(?:\.\d+)?)\s*%\s*", length or "")
    return None if found is None else round(room * float(found[1]) / 100)

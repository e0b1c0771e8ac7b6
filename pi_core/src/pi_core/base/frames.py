"""Walks along Python's stack from the inside outwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

__all__ = ["frames_outwards", "top_package"]


def frames_outwards(frame: FrameType | None, until: FrameType | None = None) -> Iterator[FrameType]:
    """Yield a frame and those that called it, up to a frame that is left out."""
    while frame is not None and frame is not until:
        yield frame
        frame = frame.f_back


def top_package(frame: FrameType) -> str:
    """Return the first part of the name of a frame's module."""
    return str(frame.f_globals.get("__name__") or "").partition(".")[0]

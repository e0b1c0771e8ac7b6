"""Schedules drawing: the first change schedules a frame, at most 20 or 30 a second; a key draws at once."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from pi_tui.view.changes import NOTHING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_tui.view.changes import Changes

__all__ = ["Frames"]

_SECONDS, _COMPONENT_SECONDS = 1 / 20, 1 / 30
"""Seconds between two frames, and where components of plugins change. With 30 frames, an answer costs a third more."""


class Frames:
    """Collects changes until the next frame. No timer runs while nothing changes.

    Args:
        draw: Draws changes.
    """

    def __init__(self, draw: Callable[[Changes], object]) -> None:
        self._draw = draw
        self._changes = NOTHING
        self._armed: asyncio.TimerHandle | None = None
        self._last = 0.0

    def want(self, changes: Changes) -> None:
        """Schedule the drawing of changes."""
        if not changes:
            return
        if self._armed is None or not changes.within(self._changes):  # an answer changes one block again and again
            self._changes |= changes
        if self._armed is None:
            seconds = _COMPONENT_SECONDS if "components" in changes.parts else _SECONDS
            wait = max(self._last + seconds - time.monotonic(), 0.0)
            self._armed = asyncio.get_running_loop().call_later(wait, self.now)

    def now(self) -> None:
        """Draw all collected changes immediately."""
        self.end()
        changes, self._changes = self._changes, NOTHING
        self._last = time.monotonic()
        if changes:
            self._draw(changes)

    def end(self) -> None:
        """Cancel the scheduled frame; the next change schedules another."""
        if self._armed is not None:
            self._armed.cancel()
            self._armed = None

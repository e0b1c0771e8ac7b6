"""When the screen is drawn again: a frame is armed by the first change, 30 a second at most, at once after a key."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from pi_tui.view.changes import NOTHING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_tui.view.changes import Changes

__all__ = ["Frames"]

_SECONDS = 1 / 30


class Frames:
    """Collects changes until the next frame. While nothing changes there is no timer.

    Args:
        draw: Draws what has changed.
    """

    def __init__(self, draw: Callable[[Changes], object]) -> None:
        self._draw = draw
        self._changes = NOTHING
        self._armed: asyncio.TimerHandle | None = None
        self._last = 0.0

    def want(self, changes: Changes) -> None:
        """Draw changes soon."""
        if not changes:
            return
        self._changes |= changes
        if self._armed is None:
            wait = max(self._last + _SECONDS - time.monotonic(), 0.0)
            self._armed = asyncio.get_running_loop().call_later(wait, self.now)

    def now(self) -> None:
        """Draw what has changed, now."""
        self.end()
        changes, self._changes = self._changes, NOTHING
        self._last = time.monotonic()
        if changes:
            self._draw(changes)

    def end(self) -> None:
        """Draw nothing any more until something changes."""
        if self._armed is not None:
            self._armed.cancel()
            self._armed = None

"""Names on stderr what blocks the event loop, where no front end draws."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pi_cli.report import warn

if TYPE_CHECKING:
    from pi_core.hooks.loop_watch import Block

__all__ = ["BlockLine"]


class BlockLine:
    """A ``BlockDisplay`` that prints one line for each block. Ctrl+C is a signal here, and ends pi."""

    def __init__(self) -> None:
        self._is_shown = False

    def show(self, block: Block, hint: str) -> None:
        """Print the line once."""
        del hint
        if not self._is_shown:
            self._is_shown = True
            warn(block)

    def interrupts(self) -> int:
        """Return 0: the terminal sends a signal for the key."""
        return 0

    def end(self) -> None:
        """Print the next block again."""
        self._is_shown = False

    def show_waiting(self, text: str | None) -> None:
        """Print what is waited for."""
        if text is not None:
            warn(text)

    def leave(self) -> None:
        """End the process."""
        os._exit(130)

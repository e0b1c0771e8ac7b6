"""Excludes a long conversation from garbage collection: each full collection would visit all of its messages."""

from __future__ import annotations

import gc

__all__ = ["LongLived"]

_LONG = 1000
"""Fewest blocks with which a full collection takes longer than a frame."""


class LongLived:
    """Excludes objects from garbage collection; an application has a single instance."""

    def __init__(self) -> None:
        self._has_frozen = False

    def loaded(self, blocks: int) -> None:
        """Collect what the previous conversation left, and exclude the loaded one from collections if it is long.

        Args:
            blocks: The number of blocks of the loaded conversation.
        """
        if self._has_frozen:
            gc.unfreeze()
            gc.collect()
            self._has_frozen = False
        if blocks >= _LONG:
            gc.freeze()
            self._has_frozen = True

"""Deleted texts that can be inserted again, the newest first."""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = ["KillRing"]

_KEPT = 60


class KillRing(NamedTuple):
    """Deleted texts.

    Attributes:
        texts: The newest last.
    """

    texts: tuple[str, ...] = ()

    def pushed(self, text: str, *, joined: Literal["before", "after"] | None = None) -> KillRing:
        """Return the ring with another text.

        Args:
            text: What was deleted.
            joined: Where it was, if it was deleted right after the newest text, of which it becomes a part.
        """
        if not text:
            return self
        if joined is None or not self.texts:
            return KillRing((*self.texts[1 - _KEPT :], text))
        newest = text + self.texts[-1] if joined == "before" else self.texts[-1] + text
        return KillRing((*self.texts[:-1], newest))

    @property
    def newest(self) -> str:
        """The text that was deleted last; empty if there is none."""
        return self.texts[-1] if self.texts else ""

    def rotated(self) -> KillRing:
        """Return the ring with the newest text as the oldest."""
        return KillRing((*self.texts[-1:], *self.texts[:-1]))

"""The kill ring: deleted texts that can be inserted again, beginning with the newest."""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = ["KillRing"]

_KEPT = 60


class KillRing(NamedTuple):
    """Deleted texts.

    Attributes:
        texts: The deleted texts, the newest last.
    """

    texts: tuple[str, ...] = ()

    def pushed(self, text: str, *, joined: Literal["before", "after"] | None = None) -> KillRing:
        """Return the ring with another text.

        Args:
            text: The deleted text.
            joined: The position relative to the newest text, if the deletion directly followed; the text is then
                joined to it.
        """
        if not text:
            return self
        if joined is None or not self.texts:
            return KillRing((*self.texts[1 - _KEPT :], text))
        newest = text + self.texts[-1] if joined == "before" else self.texts[-1] + text
        return KillRing((*self.texts[:-1], newest))

    @property
    def newest(self) -> str:
        """The most recently deleted text; empty if there is none."""
        return self.texts[-1] if self.texts else ""

    def rotated(self) -> KillRing:
        """Return the ring with the newest text moved to the oldest position."""
        return KillRing((*self.texts[-1:], *self.texts[:-1]))

"""What is offered to complete a text, and the list from which the user takes one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Completion

__all__ = ["Menu", "Offer", "Source"]


class Offer(NamedTuple):
    """What may replace a part of a text.

    Attributes:
        start: Index of the first character that is replaced.
        end: Index after the last one.
        items: What may replace it, the best first; never empty.
        after: What follows the one that is taken, unless that is a folder.
    """

    start: int
    end: int
    items: Sequence[Completion]
    after: str = ""


class Source(Protocol):
    """Something that completes texts."""

    async def offer(self, text: str, cursor: int, *, asked: bool) -> Offer | None:
        """Return what may be typed at the cursor; None for nothing. It is cancelled by the next key.

        Args:
            text: The whole text.
            cursor: Where the cursor is in it.
            asked: Whether the user asked for it with a key; else they only typed.
        """
        ...


class Menu(NamedTuple):
    """An offer as a list, of which one is selected."""

    offer: Offer
    selected: int = 0

    def moved(self, by: int) -> Menu:
        """Return the list with another one selected; from the last one to the first, and back."""
        return self._replace(selected=(self.selected + by) % len(self.offer.items))

    def window(self, rows: int) -> tuple[int, Sequence[Completion]]:
        """Return the items to draw in some rows, around the selected one, and the index of the first of them."""
        rows = max(rows, 1)
        first = min(max(self.selected - rows // 2, 0), max(len(self.offer.items) - rows, 0))
        return first, self.offer.items[first : first + rows]

    @property
    def taken(self) -> tuple[int, int, str]:
        """The part of the text that the selected item replaces, and what is written there."""
        value = self.offer.items[self.selected].value
        return self.offer.start, self.offer.end, value if value.endswith("/") else value + self.offer.after

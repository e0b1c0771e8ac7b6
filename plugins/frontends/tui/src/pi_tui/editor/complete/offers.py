"""Offers to complete a text, and the menu from which the user chooses one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Completion

__all__ = ["Menu", "Offer", "Source"]


class Offer(NamedTuple):
    """Possible replacements of a part of a text.

    Attributes:
        start: Index of the first character that is replaced.
        end: Index after the last replaced character.
        items: The possible replacements, the best first; never empty.
        after: Text inserted after the chosen item, unless that is a folder.
    """

    start: int
    end: int
    items: Sequence[Completion]
    after: str = ""


class Source(Protocol):
    """A source of completions."""

    async def offer(self, text: str, cursor: int, *, asked: bool) -> Offer | None:
        """Return completions at the cursor; None if there are none. The next key cancels this call.

        Args:
            text: The whole text.
            cursor: Index of the cursor in it.
            asked: Whether the user requested completions with a key rather than just by typing.
        """
        ...


class Menu(NamedTuple):
    """An offer as a list with a selected item."""

    offer: Offer
    selected: int = 0

    def moved(self, by: int) -> Menu:
        """Return the menu with another item selected; the selection wraps around at both ends."""
        return self._replace(selected=(self.selected + by) % len(self.offer.items))

    def window(self, rows: int) -> tuple[int, Sequence[Completion]]:
        """Return the index of the first item to draw, and the items that fit, including the selected one."""
        rows = max(rows, 1)
        first = min(max(self.selected - rows // 2, 0), max(len(self.offer.items) - rows, 0))
        return first, self.offer.items[first : first + rows]

    @property
    def taken(self) -> tuple[int, int, str]:
        """The start and the end of the replaced part of the text, and the replacement."""
        value = self.offer.items[self.selected].value
        return self.offer.start, self.offer.end, value if value.endswith("/") else value + self.offer.after

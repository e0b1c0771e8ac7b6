"""Offers to complete a text, and the menu from which the user chooses one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from attrs import evolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Completion
    from pi_tui.editor.text import Text

__all__ = ["Menu", "Offer", "Source"]


class Offer(NamedTuple):
    """Possible replacements of a part of a text.

    Attributes:
        start: Index of the first character that is replaced, unless an item says what it replaces.
        end: Index after the last replaced character, as above.
        items: The possible replacements, the best first; never empty.
        after: Text inserted after the chosen item, unless that is a folder.
    """

    start: int
    end: int
    items: Sequence[Completion]
    after: str = ""

    def span(self, number: int) -> tuple[int, int]:
        """Return the start and the end of what an item replaces."""
        return self.items[number].replaces or (self.start, self.end)

    def typed_on(self, before: Text, text: Text) -> Offer | None:
        """Return the first item that begins with what is typed now, as an offer for the present text.

        Args:
            before: The text for which this offer was made.
            text: The present text.
        """
        more = text.cursor - before.cursor
        if more <= 0:
            return None
        for number, item in enumerate(self.items):
            start, end = self.span(number)
            is_same = text.text[:start] == before.text[:start]
            if is_same and start <= text.cursor and item.value.startswith(text.text[start : text.cursor]):
                return self._replace(items=[evolve(item, replaces=(start, end + more))])
        return None


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
        start, end = self.offer.span(self.selected)
        return start, end, value if value.endswith("/") else value + self.offer.after

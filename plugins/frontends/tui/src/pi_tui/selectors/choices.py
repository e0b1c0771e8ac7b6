"""The items of a list: those that match a search are displayed, and one of them is selected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from pi_tui.selectors.query import Query

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

__all__ = ["Choices"]

T = TypeVar("T")


class Choices(Generic[T]):
    """A list with a cursor. The cursor is always on one of the matching items, if there are any.

    Args:
        items: All items, in their order.
        text: Returns the text of an item that is searched.
        key: Returns the identity of an item, by which it stays selected when the items are replaced.
        more: Returns a longer text in lower case, in which words are searched exactly as typed.
        ranked: Whether better matches come first; otherwise the order of the items is kept.

    Attributes:
        found: The items that match, in the order in which they are displayed.
        index: Index of the selected item in ``found``; 0 if there is none.
        query: The search.
    """

    def __init__(
        self,
        items: Iterable[T],
        text: Callable[[T], str],
        *,
        key: Callable[[T], Hashable] | None = None,
        more: Callable[[T], str] = lambda _item: "",
        ranked: bool = True,
    ) -> None:
        self._items = [*items]
        self._text = text
        self._key = key or text
        self._more = more
        self._ranked = ranked
        self.query = Query("")
        self.found = self._items
        self.index = 0

    @property
    def selected(self) -> T | None:
        """The selected item; None if no item matches."""
        return self.found[self.index] if self.found else None

    @property
    def position(self) -> str:
        """The cursor's position in the list, such as ``(3/25)``."""
        return f"({self.index + 1 if self.found else 0}/{len(self.found)})"

    def search(self, typed: str) -> None:
        """Display the items that match; the first of them is selected."""
        self.query = Query(typed)
        self._find()
        self.index = 0

    def show(self, found: Iterable[T], typed: str) -> None:
        """Display these items, which match a search; the selected item stays selected."""
        selected = self.selected
        self.query = Query(typed)
        self._items = self.found = [*found]
        self._keep(selected)

    def replace(self, items: Iterable[T]) -> None:
        """Replace the items, keeping the search and, if it is among them, the selected item."""
        selected = self.selected
        self._items = [*items]
        self._find()
        self._keep(selected)

    def select(self, key: Hashable) -> bool:
        """Select the item with this key; return whether it is displayed."""
        index = next((number for number, item in enumerate(self.found) if self._key(item) == key), None)
        if index is not None:
            self.index = index
        return index is not None

    def move(self, by: int) -> None:
        """Move the cursor, wrapping around at both ends."""
        if self.found:
            self.index = (self.index + by) % len(self.found)

    def jump(self, by: int) -> None:
        """Move the cursor by many rows, stopping at an end."""
        self.index = max(min(self.index + by, len(self.found) - 1), 0)

    def visible(self, room: int) -> list[tuple[T, bool]]:
        """Return as many items around the cursor as fit, each with a flag that says whether it is selected."""
        first = max(min(self.index - room // 2, len(self.found) - room), 0)
        window = self.found[first : first + room]
        return [(item, first + number == self.index) for number, item in enumerate(window)]

    def _keep(self, selected: T | None) -> None:
        if selected is None or not self.select(self._key(selected)):
            self.jump(0)

    def _find(self) -> None:
        if self.query.is_empty:
            self.found = self._items
            return
        ranks = ((self.query.rank(self._text(item), self._more(item)), item) for item in self._items)
        ranked = [(rank, item) for rank, item in ranks if rank is not None]
        if self._ranked:
            ranked.sort(key=lambda pair: pair[0])
        self.found = [item for _, item in ranked]

"""Whether messages and plain data are still those that were seen before, decided by identity and never by equality.

A message is frozen: the same object says the same. Its dicts and lists can be changed in place, so these are compared
item by item, with the objects that they held. (``1 == True``, and both are sent differently.) All of it runs in C: a
conversation of thousands of messages is compared in less than a millisecond, so that a request costs what is new in it.
"""

from __future__ import annotations

from itertools import chain, compress, count
from operator import is_, is_not
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["START", "Contents", "Place", "first_difference"]

_CONSTANT = frozenset((str, int, float, bool, bytes, type(None)))


class Place(NamedTuple):
    """A place in ``Contents``: how many dicts and lists, and how many of their items, precede it."""

    dicts: int = 0
    lists: int = 0
    keys: int = 0
    items: int = 0


START = Place()
"""The beginning of any ``Contents``."""


def first_difference(old: Sequence[object], new: Sequence[object]) -> int:
    """Return the index of the first element that is not the same object; the length of the shorter one if all are."""
    return next(compress(count(), map(is_not, old, new)), min(len(old), len(new)))


class Contents:
    """What dicts and lists contained when they were added, and whether they still do."""

    def __init__(self) -> None:
        self._dicts: list[dict[Any, Any]] = []
        self._lists: list[list[Any]] = []
        self._dict_sizes: list[int] = []
        self._list_sizes: list[int] = []
        self._keys: list[Any] = []
        self._values: list[Any] = []
        self._items: list[Any] = []

    @property
    def place(self) -> Place:
        """The end of what was added."""
        return Place(len(self._dicts), len(self._lists), len(self._keys), len(self._items))

    def add(self, value: Any) -> bool:
        """Add plain data, at any depth; return whether a change of it would be seen.

        It would not in objects of other classes; what was added of the data until then stays.
        """
        seen: set[int] = set()
        waiting = [value]
        while waiting:
            each = waiting.pop()
            kind = type(each)
            if kind in _CONSTANT or id(each) in seen:
                continue
            seen.add(id(each))
            if kind is dict:
                self._dicts.append(each)
                self._dict_sizes.append(len(each))
                self._keys += each
                self._values += each.values()
                waiting += each  # a key can be a tuple of anything
                waiting += each.values()
            elif kind is list:
                self._lists.append(each)
                self._list_sizes.append(len(each))
                self._items += each
                waiting += each
            elif kind is tuple:
                waiting += each
            else:
                return False
        return True

    def same(self, start: Place = START, end: Place | None = None) -> bool:
        """Return whether everything that was added between two places still contains the same objects, in order."""
        if end is None and start == START:
            dicts, lists = self._dicts, self._lists
            sizes, list_sizes = self._dict_sizes, self._list_sizes
            keys, values, items = self._keys, self._values, self._items
        else:
            end = end or self.place
            dicts, lists = self._dicts[start.dicts : end.dicts], self._lists[start.lists : end.lists]
            sizes, list_sizes = self._dict_sizes[start.dicts : end.dicts], self._list_sizes[start.lists : end.lists]
            keys, values = self._keys[start.keys : end.keys], self._values[start.keys : end.keys]
            items = self._items[start.items : end.items]
        return (  # the sizes first: then the rest pairs up
            [*map(len, dicts)] == sizes
            and [*map(len, lists)] == list_sizes
            and all(map(is_, chain.from_iterable(dicts), keys))
            and all(map(is_, chain.from_iterable(map(dict.values, dicts)), values))
            and all(map(is_, chain.from_iterable(lists), items))
        )

    def cut(self, place: Place) -> None:
        """Forget what was added after a place."""
        del self._dicts[place.dicts :], self._dict_sizes[place.dicts :]
        del self._lists[place.lists :], self._list_sizes[place.lists :]
        del self._keys[place.keys :], self._values[place.keys :]
        del self._items[place.items :]

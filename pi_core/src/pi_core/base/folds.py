"""``Fold``: a value made from all items of a sequence, which is kept and goes on from where it was.

What is computed from a whole session after each prompt (counts, costs, the places of images) would otherwise cost more
with each prompt. What is kept is found again by what the items are, so that a fork, a move in the tree, a compaction
or another session needs no notice: a value whose items are not the beginning of the sequence is not used.
"""

from __future__ import annotations

from itertools import islice
from operator import is_
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["KEPT_VALUES", "Fold"]

T = TypeVar("T")
V = TypeVar("V")

KEPT_VALUES = 12
"""How many values a fold keeps at most: many of the latest lengths, and fewer the longer ago they were."""


class _Kept(NamedTuple):
    """A value, and the beginning of the sequence that it was made from."""

    length: int
    beginning: Any
    value: Any


class Fold(Generic[T, V]):
    """Makes a value from all items of a sequence; for a longer sequence it reads only the items that are new.

    Items must not change in place. Entries of a session are recognised by their place in its tree; of other sequences,
    the items are kept and compared by identity.

    Args:
        start: Returns the value of an empty sequence.
        step: Returns the value after one more item, given the value before it; may change that value in place.
        copy: Returns a copy of a value, which ``step`` then changes; the default is for values that never change.
        types: Types of entries that matter; others are not parsed. None means all items.
        most: How many values are kept at most.
    """

    def __init__(
        self,
        start: Callable[[], V],
        step: Callable[[V, T], V],
        *,
        copy: Callable[[V], V] | None = None,
        types: Iterable[str] | None = None,
        most: int = KEPT_VALUES,
    ) -> None:
        self._start = start
        self._step = step
        self._copy = copy
        self._types = None if types is None else tuple(types)
        self._most = most
        self._kept: list[_Kept] = []  # by length

    def of(self, items: Sequence[T]) -> V:
        """Return the value of a sequence, which must not be changed."""
        length = len(items)
        known = next((each for each in reversed(self._kept) if _begins(items, length, each)), None)
        if known is not None and known.length == length:
            return known.value  # type: ignore[no-any-return]
        done = 0 if known is None else known.length
        value: V = self._start() if known is None else known.value
        if known is not None and self._copy is not None:
            value = self._copy(value)
        for item in self._read(items, done):
            value = self._step(value, item)
        self._keep(items, _Kept(length, _beginning(items, length), value))
        return value

    def _read(self, items: Sequence[T], done: int) -> Iterable[T]:
        """Return the items after the first ones; of entries, those of the types that matter."""
        of_type: Any = getattr(items, "of_type", None)
        if of_type is not None:
            new: Any = items[done:] if done else items
            return new if self._types is None else new.of_type(*self._types)  # type: ignore[no-any-return]
        rest = islice(items, done, None) if done else items
        return rest if self._types is None else (each for each in rest if getattr(each, "type", None) in self._types)

    def _keep(self, items: Sequence[T], made: _Kept) -> None:
        place = next((place for place, each in enumerate(self._kept) if each.length >= made.length), len(self._kept))
        self._kept.insert(place, made)
        if len(self._kept) <= self._most:
            return
        others = [each for each in self._kept if not _begins(items, made.length, each)]
        self._kept.remove(others[0] if others else self._densest())

    def _densest(self) -> _Kept:
        """Return the value that is missed least: near its neighbours, compared with its distance from the end."""
        if len(self._kept) < 3:  # noqa: PLR2004 - an end has one neighbour only
            return self._kept[0]
        end = self._kept[-1].length + 1
        neighbours = zip(self._kept, self._kept[1:], self._kept[2:], strict=False)
        return min(neighbours, key=lambda three: (three[2].length - three[0].length) / (end - three[1].length))[1]


def _beginning(items: Any, length: int) -> Any:
    """Return what stands for the first items of a sequence."""
    place = getattr(items, "beginning", None)
    return place(length) if place is not None else tuple(islice(items, length))


def _begins(items: Any, length: int, kept: _Kept) -> bool:
    """Whether a value was made from the first items of a sequence."""
    if kept.length > length:
        return False
    place = getattr(items, "beginning", None)
    if place is not None:
        return bool(place(kept.length) == kept.beginning)
    return isinstance(kept.beginning, tuple) and all(map(is_, kept.beginning, items))

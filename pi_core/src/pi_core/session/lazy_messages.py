"""``LazyMessages``: the messages of a context as a sequence of fixed length that parses a message when it is read."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, overload

from pi_core.session.copies import copy_message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pi_hookspecs import AgentMessage

__all__ = ["LazyMessages", "paused_gc"]


class LazyMessages(Sequence["AgentMessage"]):
    """A snapshot of the messages; each is parsed when it is first read, and then cached.

    Iterating from the front parses all of them at once, which is faster than one by one; ``reversed`` and an index
    parse only what they return. A slice parses nothing.

    Args:
        numbers: The numbers of their entries. The list may grow with the branch; the length of the snapshot is fixed.
        parsed: The messages that are already parsed, by number; messages parsed later are added.
        read: Parses the message of an entry.
    """

    __slots__ = ("_length", "_numbers", "_parsed", "_read")

    def __init__(
        self, numbers: Sequence[int], parsed: dict[int, AgentMessage], read: Callable[[int], AgentMessage]
    ) -> None:
        self._numbers = numbers
        self._length = len(numbers)
        self._parsed = parsed
        self._read = read

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, place: int) -> AgentMessage: ...
    @overload
    def __getitem__(self, place: slice) -> LazyMessages: ...
    def __getitem__(self, place: int | slice) -> AgentMessage | LazyMessages:
        if isinstance(place, slice):
            numbers = [self._numbers[each] for each in range(*place.indices(self._length))]
            return LazyMessages(numbers, self._parsed, self._read)
        return self._message(self._numbers[range(self._length)[place]])

    def __iter__(self) -> Iterator[AgentMessage]:
        parsed, read = self._parsed, self._read
        with paused_gc():
            for number in islice(self._numbers, self._length):
                if number not in parsed:
                    parsed[number] = read(number)
            return iter([parsed[number] for number in islice(self._numbers, self._length)])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LazyMessages | list | tuple):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{self._length} messages>"

    def copies(self) -> LazyMessages:
        """Return a sequence of copies of the messages, for a caller that must not change them."""
        numbers = self._numbers if len(self._numbers) == self._length else self._numbers[: self._length]
        return LazyMessages(numbers, {}, lambda number: copy_message(self._message(number)))

    def _message(self, number: int) -> AgentMessage:
        message = self._parsed.get(number)
        if message is None:
            message = self._parsed[number] = self._read(number)
        return message


@contextmanager
def paused_gc() -> Iterator[None]:
    """Pause the garbage collector, which would repeatedly scan a hundred thousand new objects."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()

"""The conversation as the model is told it: a sequence that knows its length at once and parses what is looked at."""

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
    """Messages as they were when asked for; each is parsed when it is first looked at, and then kept.

    To go through them from the front parses them all at once, which is faster than one by one; ``reversed`` and a
    place parse no more than what they give. A slice parses nothing yet.

    Args:
        numbers: Of the entries that they come from. May grow at its end, as the branch does; we end where it ended.
        made: The messages that are there already, by number. Those that are parsed join them, for others to find.
        read: Parses the message of an entry.
    """

    __slots__ = ("_length", "_made", "_numbers", "_read")

    def __init__(
        self, numbers: Sequence[int], made: dict[int, AgentMessage], read: Callable[[int], AgentMessage]
    ) -> None:
        self._numbers = numbers
        self._length = len(numbers)
        self._made = made
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
            return LazyMessages(numbers, self._made, self._read)
        return self._message(self._numbers[range(self._length)[place]])

    def __iter__(self) -> Iterator[AgentMessage]:
        made, read = self._made, self._read
        with paused_gc():
            for number in islice(self._numbers, self._length):
                if number not in made:
                    made[number] = read(number)
            return iter([made[number] for number in islice(self._numbers, self._length)])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LazyMessages | list | tuple):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{self._length} messages>"

    def copies(self) -> LazyMessages:
        """Return the messages for somebody who must not change them: what is looked at is a copy."""
        numbers = self._numbers if len(self._numbers) == self._length else self._numbers[: self._length]
        return LazyMessages(numbers, {}, lambda number: copy_message(self._message(number)))

    def _message(self, number: int) -> AgentMessage:
        message = self._made.get(number)
        if message is None:
            message = self._made[number] = self._read(number)
        return message


@contextmanager
def paused_gc() -> Iterator[None]:
    """Keep the garbage collector from looking at a hundred thousand new objects again and again."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()

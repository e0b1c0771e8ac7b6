"""What keys do in the normal mode: each gets text and cursor, and returns both."""

from __future__ import annotations

import re
from collections.abc import Callable

__all__ = ["NORMAL"]

Move = Callable[[str, int], tuple[str, int]]


def bounds(text: str, cursor: int) -> tuple[int, int]:
    """Return where the line of the cursor begins and ends."""
    end = text.find("\n", cursor)
    return text.rfind("\n", 0, cursor) + 1, len(text) if end < 0 else end


def along(by: int) -> Move:
    """Return what moves in the line."""

    def move(text: str, cursor: int) -> tuple[str, int]:
        start, end = bounds(text, cursor)
        return text, min(max(cursor + by, start), end)

    return move


def down(by: int) -> Move:
    """Return what moves to the next line, or to the one before."""

    def move(text: str, cursor: int) -> tuple[str, int]:
        start, end = bounds(text, cursor)
        other = end + 1 if by > 0 else start - 1
        if not 0 <= other <= len(text):
            return text, cursor
        first, last = bounds(text, other)
        return text, min(first + cursor - start, last)

    return move


def next_word(text: str, cursor: int) -> tuple[str, int]:
    found = re.compile(r"\s\S").search(text, cursor)
    return text, found.end() - 1 if found else len(text)


def previous_word(text: str, cursor: int) -> tuple[str, int]:
    starts = [found.start() for found in re.finditer(r"\S+", text) if found.start() < cursor]
    return text, starts[-1] if starts else 0


NORMAL: dict[str, Move] = {
    "h": along(-1),
    "l": along(1),
    "j": down(1),
    "k": down(-1),
    "0": lambda text, cursor: (text, bounds(text, cursor)[0]),
    "$": lambda text, cursor: (text, bounds(text, cursor)[1]),
    "w": next_word,
    "b": previous_word,
    "x": lambda text, cursor: (text[:cursor] + text[cursor + 1 :], cursor),
    "D": lambda text, cursor: (text[:cursor] + text[bounds(text, cursor)[1] :], cursor),
    "i": lambda text, cursor: (text, cursor),
    "a": along(1),
    "I": lambda text, cursor: (text, bounds(text, cursor)[0]),
    "A": lambda text, cursor: (text, bounds(text, cursor)[1]),
}

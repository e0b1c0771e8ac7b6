"""Grapheme clusters, the units of cursor movement, with their widths in cells.

A line is split in the same way as by Rich, which draws it. In addition, two flag letters form one flag, and an
invisible character is a cluster of its own, drawn as its code point: pasted text may hide instructions with such
characters.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Mapping, Sequence

__all__ = [
    "MARKS",
    "Cluster",
    "clusters_of",
    "code_point",
    "is_boundary",
    "is_narrow",
    "next_boundary",
    "previous_boundary",
]

MARKS = range(0x10F800, 0x10FFFE)
"""Private-use characters that represent pasted texts; they have no meaning in external text."""

TAB = "    "

_FIRST_COMBINING = "\u0300"
"""All printable characters before this one are one cell wide, and none combines with another."""

_FLAG_LETTERS = "\U0001f1e6", "\U0001f1ff"

_LONG_LINE = 4096
"""Length in characters above which only the surroundings of the cursor in a line are split into clusters."""

_SURROUNDINGS = 256


class Cluster(NamedTuple):
    """A cluster of a line.

    Attributes:
        start: Index of its first character in the line.
        end: Index after its last character.
        shown: The text that is drawn for it.
        cells: The width of that text.
    """

    start: int
    end: int
    shown: str
    cells: int


def is_narrow(text: str) -> bool:
    """Whether every character of a text is visible and one cell wide; most texts are, and this check is cheap."""
    return text.isprintable() and (text.isascii() or max(text) < _FIRST_COMBINING)


def clusters_of(line: str, labels: tuple[tuple[str, str], ...] = ()) -> Sequence[Cluster]:
    """Return the clusters of a line, without gaps.

    Args:
        line: A text without newlines.
        labels: The text that is drawn for each character of ``MARKS``; other marks are drawn as code points.
    """
    if is_narrow(line):
        return [Cluster(index, index + 1, character, 1) for index, character in enumerate(line)]
    return [*_clusters(line, dict(labels))]


def _clusters(line: str, labels: Mapping[str, str]) -> Iterator[Cluster]:
    from rich.cells import cell_len

    at = 0
    for alone in _alone().finditer(line):
        yield from _plain_clusters(line, at, alone.start())
        character = alone[0]
        shown = TAB if character == "\t" else labels.get(character, code_point(character))
        at = alone.end()
        yield Cluster(alone.start(), at, shown, cell_len(shown))
    yield from _plain_clusters(line, at, len(line))


@lru_cache(maxsize=1)
def _alone() -> re.Pattern[str]:
    """Return the pattern of a character that is a cluster of its own; it is compiled on first use."""
    import re

    from pi_hookspecs.hidden import HIDDEN

    return re.compile(rf"[\t{chr(MARKS.start)}-{chr(MARKS.stop - 1)}]|{HIDDEN}")


def _plain_clusters(line: str, start: int, end: int) -> Iterator[Cluster]:
    from rich.cells import split_graphemes

    text = line[start:end]
    flag: Cluster | None = None
    for first, last, cells in split_graphemes(text)[0]:
        cluster = Cluster(start + first, start + last, text[first:last], cells)
        is_flag_letter = len(cluster.shown) == 1 and _FLAG_LETTERS[0] <= cluster.shown <= _FLAG_LETTERS[1]
        if flag is not None and is_flag_letter:
            yield Cluster(flag.start, cluster.end, flag.shown + cluster.shown, flag.cells + cells)
            flag = None
            continue
        if flag is not None:
            yield flag
        flag = cluster if is_flag_letter else None
        if flag is None:
            yield cluster
    if flag is not None:
        yield flag


def code_point(character: str) -> str:
    """Return the text form of a character that must not be drawn itself."""
    return f"\u2039U+{ord(character):04X}\u203a"


def next_boundary(text: str, at: int) -> int:
    """Return the end of the cluster that begins at or contains an index of a text; a newline is a cluster."""
    if at >= len(text) or text[at] == "\n":
        return min(at + 1, len(text))
    start, bounds = _bounds(text, at)
    return start + bounds[bisect_right(bounds, at - start)]


def previous_boundary(text: str, at: int) -> int:
    """Return the start of the cluster that ends at or contains an index of a text; a newline is a cluster."""
    if at <= 0 or text[at - 1] == "\n":
        return max(at - 1, 0)
    start, bounds = _bounds(text, at)
    return start + bounds[bisect_left(bounds, at - start) - 1]


def is_boundary(text: str, at: int) -> bool:
    """Whether an index of a text is not inside a cluster."""
    start, bounds = _bounds(text, at)
    return at - start in bounds


def _bounds(text: str, at: int) -> tuple[int, Sequence[int]]:
    """Return the start of the line around an index, or of a part of it, and the boundaries relative to that start."""
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    if end - start > _LONG_LINE:
        start, end = max(start, at - _SURROUNDINGS), min(end, at + _SURROUNDINGS)
    return start, _line_bounds(text[start:end])


@lru_cache(maxsize=64)
def _line_bounds(line: str) -> Sequence[int]:
    if is_narrow(line):
        return range(len(line) + 1)
    return [0, *(cluster.end for cluster in clusters_of(line))]

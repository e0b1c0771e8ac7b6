"""Finds the changed cells of a widget, so that only those are written to the terminal again."""

from __future__ import annotations

from itertools import takewhile, zip_longest
from typing import TYPE_CHECKING

from textual.geometry import Region

from pi_tui.editor.clusters import clusters_of, is_narrow

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_hookspecs import Line, Run

__all__ = ["changed_cells"]

_FEWEST_EQUAL = 3
"""Fewest equal characters at the beginning of a row for which it is worth finding what has changed in it."""


def changed_cells(before: Sequence[Line], after: Sequence[Line], width: int) -> list[Region]:
    """Return a region for each changed row, from its first changed cell to its last one."""
    regions = []
    for row, (old, new) in enumerate(zip_longest(before, after)):
        if old is not new and old != new:
            first, last = _span(old, new, width) if old is not None and new is not None else (0, width)
            regions.append(Region(first, row, last - first, 1))
    return regions


def _span(old: Line, new: Line, width: int) -> tuple[int, int]:
    first = _equal(old.runs, new.runs)
    if old.fill != new.fill or first < _FEWEST_EQUAL:  # most rows of a text that has scrolled
        return 0, width
    before, after = str(old), str(new)
    if not _is_single(before) or not _is_single(after):
        return 0, width
    first = min(first, width - 1)
    longest = width if old.fill is not None else min(max(len(before), len(after)), width)
    if len(before) == len(after) >= longest:
        longest -= _equal(old.runs[::-1], new.runs[::-1], step=-1)
    return first, max(longest, first + 1)


def _is_single(text: str) -> bool:
    """Whether each character takes one cell, so that a line can be cut anywhere."""
    return is_narrow(text) or all(each.cells == each.end - each.start == 1 for each in clusters_of(text))


def _equal(old: Iterable[Run], new: Iterable[Run], step: int = 1) -> int:
    """Return how many characters are equal at the beginning; with a step of -1, at the end of reversed runs."""
    equal = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            if one._replace(text="") == other._replace(text=""):
                pairs = zip(one.text[::step], other.text[::step], strict=False)
                equal += sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            break
        equal += len(one.text)
    return equal

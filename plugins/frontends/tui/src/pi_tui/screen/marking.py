"""Marks in laid-out rows: the selection, and the matches of a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Line
from pi_tui.editor.clusters import clusters_of
from pi_tui.lines.line import cells

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_hookspecs import Run

__all__ = ["found_cells", "marked", "word_cells"]


def marked(line: Line, first: int, last: int, background: str, role: str | None = None) -> Line:
    """Return a line with another background, and maybe another role, in the cells from ``first`` to before ``last``."""
    runs: list[Run] = []
    cell = 0
    for run in line.runs:
        width = cells(run.text)
        start, end = max(first - cell, 0), min(last - cell, width)
        if not run.text or start >= end:
            runs.append(run)
        else:
            before, inside, after = _parts(run.text, start, end)
            changed = run._replace(text=inside, background=background, role=role or run.role)
            parts = (run._replace(text=before), changed, run._replace(text=after))
            runs += [part for part in parts if part.text]
        cell += width
    return Line(tuple(runs), line.fill)


def _parts(text: str, first: int, last: int) -> tuple[str, str, str]:
    """Split a text into the parts before, inside and after some cells; partly covered clusters are inside."""
    start = end = cell = 0
    for cluster in clusters_of(text):
        if cell + cluster.cells <= first:
            start = cluster.end
        if cell < last:
            end = cluster.end
        cell += cluster.cells
    return text[:start], text[start:end], text[end:]


def found_cells(text: str, wanted: str) -> Iterator[tuple[int, int]]:
    """Yield the first cell of each match and the cell after its last; case is ignored, and ``wanted`` is lower case."""
    lowered = text.lower()
    if len(lowered) != len(text):  # lower case has another length: find only the exact case
        lowered = text
    at = lowered.find(wanted)
    while wanted and at >= 0:
        yield cells(text[:at]), cells(text[: at + len(wanted)])
        at = lowered.find(wanted, at + len(wanted))


def word_cells(text: str, cell: int) -> tuple[int, int]:
    """Return the first cell and the cell after the last of the word, spaces or other characters at a cell."""
    clusters = clusters_of(text)
    starts, at = [], 0
    for cluster in clusters:
        starts.append(at)
        at += cluster.cells
    kinds = [_kind(text[each.start : each.end]) for each in clusters]
    number = max((index for index, start in enumerate(starts) if start <= cell), default=None)
    if number is None or cell >= at:
        return cell, cell + 1
    first = last = number
    while first > 0 and kinds[first - 1] == kinds[number]:
        first -= 1
    while last + 1 < len(kinds) and kinds[last + 1] == kinds[number]:
        last += 1
    return starts[first], starts[last] + clusters[last].cells


def _kind(text: str) -> str:
    if text.isspace():
        return "space"
    return "word" if text[0].isalnum() or text[0] in "_-./~" else "other"

"""Marks on rows that are laid out already: what is selected, and what a search has found."""

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
    """Return a line whose cells from ``first`` to before ``last`` have another background, and maybe another role."""
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
    """Cut a text before and after some cells; a cluster that is in them in part is in them."""
    start = end = cell = 0
    for cluster in clusters_of(text):
        if cell + cluster.cells <= first:
            start = cluster.end
        if cell < last:
            end = cluster.end
        cell += cluster.cells
    return text[:start], text[start:end], text[end:]


def found_cells(text: str, wanted: str) -> Iterator[tuple[int, int]]:
    """Yield the first cell of each place where a text is found, whatever its case, and the one after its last."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a letter that is two in lower case: then only the same case is found
        lowered = text
    at = lowered.find(wanted)
    while wanted and at >= 0:
        yield cells(text[:at]), cells(text[: at + len(wanted)])
        at = lowered.find(wanted, at + len(wanted))


def word_cells(text: str, cell: int) -> tuple[int, int]:
    """Return the cells of the word at a cell: of what is there, letters and digits or anything else but spaces."""
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

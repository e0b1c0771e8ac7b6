"""Wrapping of a text into rows of a width, and conversion between indices and cells."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from pi_tui.editor.clusters import Cluster, clusters_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Labels", "Place", "Row", "index_at", "place_of", "wrap"]

Labels = tuple[tuple[str, str], ...]
"""The text that is drawn for each mark of a paste."""

_LONG_LINE = 4096
"""Maximum characters of a short line. Few longer lines are cached: the rows of a million characters take 100 MB."""


class Row(NamedTuple):
    """A row of a text.

    Attributes:
        start: Index of its first character in the text.
        end: Index after its last character, without the newline.
        shown: The text that is drawn, never wider than the width.
        cells: The width of that text.
    """

    start: int
    end: int
    shown: str
    cells: int


class Place(NamedTuple):
    """The position at which the cursor is drawn.

    Attributes:
        row: Index of the row.
        cell: Cells before it; after a full row, that is the row's width, so lay out one cell less than is available.
    """

    row: int
    cell: int


def wrap(text: str, width: int, labels: Labels = ()) -> list[Row]:
    """Return the rows of a text, at least one. A row ends after a space, or where it is full if it has none.

    Args:
        text: The text.
        width: Cells of a row, at least 1.
        labels: The texts that are drawn for marks of pastes.
    """
    rows = []
    start = 0
    for line in text.split("\n"):
        rows += [Row(start + row.start, start + row.end, row.shown, row.cells) for row in _wrap(line, width, labels)]
        start += len(line) + 1
    return rows


def place_of(text: str, rows: Sequence[Row], cursor: int, width: int, labels: Labels = ()) -> Place:
    """Return the position at which the cursor is drawn; between two rows of a line, the start of the second."""
    index = bisect_right(rows, cursor, key=lambda row: row.start) - 1
    row = rows[index]
    return Place(index, sum(each.cells for each in _clusters(text, row, width, labels) if each.end <= cursor))


def index_at(text: str, rows: Sequence[Row], place: Place, width: int, labels: Labels = ()) -> int:
    """Return the index of the cluster that is drawn at a position; right of the row's end, the index of that end."""
    row = rows[place.row]
    clusters = _clusters(text, row, width, labels)
    cells = 0
    for cluster in clusters:
        cells += cluster.cells
        if cells > place.cell:
            return cluster.start
    continues = place.row + 1 < len(rows) and rows[place.row + 1].start == row.end
    return clusters[-1].start if continues and clusters else row.end  # the row's end is the start of the next one


def fitted(cluster: Cluster, width: int) -> Cluster:
    """Return a cluster for rows of a width; a wider cluster is cut."""
    if cluster.cells <= width:
        return cluster
    from rich.cells import set_cell_size

    return cluster._replace(shown=set_cell_size(cluster.shown, width - 1) + "…", cells=width)


def _clusters(text: str, row: Row, width: int, labels: Labels) -> Sequence[Cluster]:
    """Return the clusters of a row, with indices in the text. They are determined from the whole line."""
    if row.shown.isascii() and len(row.shown) == row.end - row.start:
        return [Cluster(row.start + index, row.start + index + 1, each, 1) for index, each in enumerate(row.shown)]
    start = text.rfind("\n", 0, row.start) + 1
    end = text.find("\n", row.end)
    line = clusters_of(text[start : len(text) if end < 0 else end], labels)
    first = bisect_left(line, row.start - start, key=lambda each: each.start)
    last = bisect_left(line, row.end - start, key=lambda each: each.start)
    return [
        Cluster(start + each.start, start + each.end, each.shown, fitted(each, width).cells)
        for each in line[first:last]
    ]


def _wrap(line: str, width: int, labels: Labels) -> Sequence[Row]:
    return (_wrap_short if len(line) <= _LONG_LINE else _wrap_long)(line, width, labels)


def _rows(line: str, width: int, labels: Labels) -> Sequence[Row]:
    if line.isascii() and line.isprintable():
        return [*_wrap_ascii(line, width)]
    return [*_wrap_clusters([fitted(each, width) for each in clusters_of(line, labels)], width)]


_wrap_short = lru_cache(maxsize=2048)(_rows)

_wrap_long = lru_cache(maxsize=4)(_rows)


def _wrap_ascii(line: str, width: int) -> Iterator[Row]:
    start = 0
    while len(line) - start > width:
        end = start + width
        if line[end] != " ":
            end = line.rfind(" ", start, end) + 1 or end
        yield Row(start, end, line[start:end], end - start)
        start = end
    yield Row(start, len(line), line[start:], len(line) - start)


def _wrap_clusters(clusters: Sequence[Cluster], width: int) -> Iterator[Row]:
    first, cells, last_break = 0, 0, 0
    index = 0
    while index < len(clusters):
        cluster = clusters[index]
        if cells + cluster.cells > width:
            end = index if cluster.shown.isspace() or last_break <= first else last_break
            yield _row(clusters[first:end])
            first = last_break = index = end
            cells = 0
            continue
        cells += cluster.cells
        index += 1
        if _may_end_row(cluster):
            last_break = index
    yield _row(clusters[first:])


def _may_end_row(cluster: Cluster) -> bool:
    """Whether a row may end after a cluster: a space, or a character of a script that is written without spaces."""
    return cluster.shown.isspace() or (cluster.cells > 1 and cluster.end - cluster.start == 1)


def _row(clusters: Sequence[Cluster]) -> Row:
    if not clusters:
        return Row(0, 0, "", 0)
    shown = "".join(each.shown for each in clusters)
    return Row(clusters[0].start, clusters[-1].end, shown, sum(each.cells for each in clusters))

"""Wrapping of styled text: rows break after spaces, and between characters of scripts that use no spaces.

No row exceeds the requested width, whatever the text: a cluster that is wider than a row is replaced by a mark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Line, Run
from pi_tui.editor.clusters import clusters_of
from pi_tui.lines.copying import SAME_LINE, SAME_LINE_AFTER_SPACE
from pi_tui.lines.line import BLANK, cells, sliced

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pi_tui.editor.clusters import Cluster

__all__ = ["chop", "last_row", "wrap", "wrap_items", "wrap_text"]

_TOO_WIDE = "\N{REPLACEMENT CHARACTER}"


def wrap(
    runs: Sequence[Run],
    width: int,
    *,
    first: Sequence[Run] = (),
    rest: Sequence[Run] | None = None,
    fill: str | None = None,
) -> list[Line]:
    """Return the rows of a line; there is at least one.

    Args:
        runs: The line, without line breaks.
        width: Cells of a row, at least 1.
        first: Prefix of the first row, such as a list's bullet; omitted if it leaves no room.
        rest: Prefix of the other rows; None repeats ``first``.
        fill: Background of the rows.
    """
    head, others = tuple(first), tuple(first if rest is None else rest)
    used = max(_cells(head), _cells(others))
    if used >= width:
        head = others = ()
        used = 0
    runs = _fitting(runs, width - used)
    text = "".join([run.text for run in runs])
    rows = []
    before: int | None = None
    for start, end in _rows(text, width - used):
        mark = () if before is None else (SAME_LINE_AFTER_SPACE if start > before else SAME_LINE,)
        rows.append(Line((*(head if before is None else others), *mark, *sliced(runs, start, end)), fill))
        before = end
    return rows


def wrap_text(text: str, width: int, style: Run | None = None, *, fill: str | None = None) -> list[Line]:
    """Return the rows of a text that may have several lines, all in one style."""
    style = style or Run("")
    rows = []
    for line in text.split("\n"):
        rows += wrap([style._replace(text=line)], width, fill=fill) if line else [Line((), fill) if fill else BLANK]
    return rows


def wrap_items(items: Iterable[str], width: int, style: Run) -> list[Line]:
    """Return rows of short items with dots between them, which break at the dots; no row without items."""
    rows: list[str] = []
    for item in items:
        if rows and cells(joined := f"{rows[-1]} · {item}") <= width:
            rows[-1] = joined
        else:
            rows.append(item)
    texts = [f"{row} ·" if cells(row) + 2 <= width else row for row in rows[:-1]] + rows[-1:]
    return [row for text in texts for row in wrap([style._replace(text=text)], width)]


def last_row(text: str, width: int) -> int:
    """Return the index at which the last row of a text without line breaks starts."""
    return [*_rows(text, width)][-1][0]


def chop(runs: Sequence[Run], width: int, *, first: Sequence[Run] = (), fill: str | None = None) -> list[Line]:
    """Return the rows of a line that is broken wherever a row is full, as code is; ``first`` precedes each row."""
    head = tuple(first)
    if _cells(head) >= width:
        head = ()
    room = width - _cells(head)
    runs = _fitting(runs, room)
    text = "".join([run.text for run in runs])
    return [
        Line((*head, *((SAME_LINE,) if start else ()), *sliced(runs, start, end)), fill)
        for start, end in _chopped(text, room)
    ]


def _cells(runs: Sequence[Run]) -> int:
    return sum([cells(run.text) for run in runs])


def _fitting(runs: Sequence[Run], width: int) -> Sequence[Run]:
    """Return runs without clusters that are wider than a row."""
    if width > 1 or all(run.text.isascii() for run in runs):
        return runs
    return [run._replace(text="".join([_narrow(each, width) for each in clusters_of(run.text)])) for run in runs]


def _narrow(cluster: Cluster, width: int) -> str:
    return cluster.shown if cluster.cells <= width else _TOO_WIDE


def _rows(text: str, width: int) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each row; spaces at which a row breaks belong to no row."""
    if len(text) <= width and text.isascii():
        return iter([(0, len(text))])
    return _ascii_rows(text, width) if text.isascii() else _cluster_rows(text, width)


def _ascii_rows(text: str, width: int) -> Iterator[tuple[int, int]]:
    start, length = 0, len(text)
    begin = length - len(text.lstrip(" "))  # no row ends inside the indentation
    while length - start > width:
        end = start + width
        if text[end] != " ":
            space = text.rfind(" ", max(start, begin), end)
            end = space + 1 if space > start else end
        yield start, start + len(text[start:end].rstrip(" ")) if end > begin else end
        start = end
        while start < length and text[start] == " ":
            start += 1
        if start == length:
            return
    yield start, length


def _cluster_rows(text: str, width: int) -> Iterator[tuple[int, int]]:
    clusters = clusters_of(text)
    first = index = used = 0
    last_break = -1
    seen_word = False
    while index < len(clusters):
        cluster = clusters[index]
        if used + cluster.cells > width and index > first:
            if text[cluster.start : cluster.end] == " " and seen_word:
                last_break = index
            end = last_break if last_break > first else index
            stop = clusters[end - 1].end
            yield clusters[first].start, _stripped(text, clusters[first].start, stop) if seen_word else stop
            first = end
            while seen_word and first < len(clusters) and text[clusters[first].start : clusters[first].end] == " ":
                first += 1
            index, used, last_break = first, 0, -1
            continue
        used += cluster.cells
        index += 1
        space = text[cluster.start : cluster.end] == " "
        seen_word = seen_word or not space
        if (space and seen_word) or (cluster.cells > 1 and cluster.end - cluster.start == 1):
            last_break = index
    if first < len(clusters) or not clusters:
        yield (clusters[first].start, clusters[-1].end) if clusters else (0, 0)


def _stripped(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1] == " ":
        end -= 1
    return end


def _chopped(text: str, width: int) -> Iterator[tuple[int, int]]:
    if text.isascii():
        for start in range(0, len(text) or 1, width):
            yield start, min(start + width, len(text))
        return
    start = used = 0
    for cluster in clusters_of(text):
        if used + cluster.cells > width:
            yield start, cluster.start
            start, used = cluster.start, 0
        used += cluster.cells
    yield start, len(text)

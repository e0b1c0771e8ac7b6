"""Operations on styled lines: their width, cutting, padding, and parts of their runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Line, Run
from pi_tui.editor.clusters import clusters_of, is_narrow
from pi_tui.lines.copying import PADDING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["BLANK", "cells", "cut", "cut_text", "fill", "indent", "join", "sliced"]

BLANK = Line()


def cells(text: str) -> int:
    """Return the number of cells that a cleaned text occupies."""
    if is_narrow(text):
        return len(text)
    return sum([each.cells for each in clusters_of(text)])


def sliced(runs: Iterable[Run], start: int, end: int) -> tuple[Run, ...]:
    """Return the runs of a part of a line, from one index of its text to another."""
    parts = []
    at = 0
    for run in runs:
        first, last = max(start - at, 0), end - at
        if last <= 0:
            break
        at += len(run.text)
        text = run.text[first:last]
        if text:
            parts.append(run if len(text) == len(run.text) else run._replace(text=text))
    return tuple(parts)


def cut_text(text: str, width: int, mark: str = "…") -> str:
    """Return a text that is at most ``width`` cells wide, with a mark where it was cut."""
    if cells(text) <= width:
        return text
    room = width - cells(mark)
    if room < 0:
        return ""
    end = used = 0
    for cluster in clusters_of(text[: room + 1] if text.isascii() else text):
        if used + cluster.cells > room:
            break
        used += cluster.cells
        end = cluster.end
    return text[:end] + mark


def cut(line: Line, width: int, mark: str = "…") -> Line:
    """Return a line that is at most ``width`` cells wide."""
    text = str(line)
    short = cut_text(text, width, mark)
    if short == text:
        return line
    kept = len(short) - len(mark) if short else 0
    runs = sliced(line.runs, 0, kept)
    last = (runs or line.runs)[-1]
    return Line((*runs, last._replace(text=mark)) if short else (), line.fill)


def join(lines: Iterable[Line]) -> str:
    """Return the text of lines, for tests and for copying."""
    return "\n".join(map(str, lines))


def indent(lines: Sequence[Line], count: int, width: int) -> list[Line]:
    """Return lines with ``count`` spaces in front, or fewer to leave at least one cell of ``width``."""
    space = Run(" " * max(min(count, width - 1), 0), PADDING)
    return [Line((space, *line.runs), line.fill) if space.text and line.runs else line for line in lines]


def fill(lines: Iterable[Line], background: str) -> list[Line]:
    """Return lines with a background that extends to the edge."""
    return [Line(line.runs, background) for line in lines]

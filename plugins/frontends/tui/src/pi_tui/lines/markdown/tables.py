"""Layout of tables: columns are as wide as their content if everything fits; otherwise cells are wrapped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import Line, Run
from pi_tui.lines.line import cells
from pi_tui.lines.markdown.inline import inline_lines
from pi_tui.lines.wrap import wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_tui.lines.markdown.inline import Ink

__all__ = ["table_rows"]

_BORDER = "borderMuted"

_LEAST = 3
"""Minimum cells of a column; a table for which there is less room is drawn as lines of text."""


def table_rows(node: Any, width: int, ink: Ink) -> list[Line]:
    """Return the rows of a table (a ``SyntaxTreeNode``)."""
    rows = [row for part in node.children for row in part.children]
    bold = ink.with_style(bold=True)
    texts = [[_runs(cell, bold if number == 0 else ink) for cell in row.children] for number, row in enumerate(rows)]
    widths = _widths(texts, width)
    if widths is None:
        return _as_lines(texts, width, ink)
    aligned = [str(cell.attrs.get("style", "")).removeprefix("text-align:") for cell in rows[0].children]
    lines = [_rule("┌┬┐", widths)]
    for number, row in enumerate(texts):
        lines += _row(row, widths, aligned)
        if number == 0 and len(texts) > 1:
            lines.append(_rule("├┼┤", widths))
    return [*lines, _rule("└┴┘", widths)]


def _runs(cell: Any, ink: Ink) -> list[Run]:
    lines = [line for child in cell.children for line in inline_lines(child, ink)]
    return [run for number, line in enumerate(lines) for run in ([ink.run(" ")] if number else []) + line]


def _widths(rows: Sequence[Sequence[Sequence[Run]]], width: int) -> list[int] | None:
    """Return the cells of each column; None if there are too few."""
    count = len(rows[0])
    room = width - 3 * count - 1
    if room < _LEAST * count:
        return None
    wanted = [max(1, *(_cells(row[column]) for row in rows)) for column in range(count)]
    if sum(wanted) <= room:
        return wanted
    return _shared(wanted, room)


def _shared(wanted: Sequence[int], room: int) -> list[int]:
    """Distribute too little room over columns: narrow ones get their full width, wide ones share the rest equally."""
    widths = [0] * len(wanted)
    columns = sorted(range(len(wanted)), key=wanted.__getitem__)
    for place, column in enumerate(columns):
        widths[column] = min(wanted[column], room // (len(columns) - place))
        room -= widths[column]
    return widths


def _cells(runs: Sequence[Run]) -> int:
    return sum([cells(run.text) for run in runs])


def _rule(corners: str, widths: Sequence[int]) -> Line:
    left, middle, right = corners[0], corners[1], corners[2]
    return Line.of(Run(left + middle.join(["─" * (each + 2) for each in widths]) + right, _BORDER))


def _row(row: Sequence[Sequence[Run]], widths: Sequence[int], aligned: Sequence[str]) -> list[Line]:
    columns = [wrap(runs, width) for runs, width in zip(row, widths, strict=True)]
    lines = []
    for number in range(max(map(len, columns))):
        runs = [Run("│ ", _BORDER)]
        for column, width, side in zip(columns, widths, aligned, strict=True):
            line = column[number] if number < len(column) else Line()
            free = width - _cells(line.runs)
            left = free if side == "right" else free // 2 if side == "center" else 0
            runs += [Run(" " * left), *line.runs, Run(" " * (free - left)), Run(" │ ", _BORDER)]
        runs[-1] = Run(" │", _BORDER)
        lines.append(Line(tuple([run for run in runs if run.text])))
    return lines


def _as_lines(rows: Sequence[Sequence[Sequence[Run]]], width: int, ink: Ink) -> list[Line]:
    lines = []
    for row in rows:
        runs = [run for number, cell in enumerate(row) for run in ([ink.run(" | ")] if number else []) + [*cell]]
        lines += wrap(runs, width)
    return lines

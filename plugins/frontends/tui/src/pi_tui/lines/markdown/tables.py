"""Layout of tables: columns are as wide as their content if everything fits; otherwise cells are wrapped.

Where that would leave columns of a few cells, each row is a record: a line for each column, with its heading.
"""

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
"""Minimum cells of a column; a table for which there is less room is drawn as records."""

_NARROW, _READABLE = 60, 10
"""Below this width, a table is drawn as records if a column with longer cells would have fewer cells than this."""

_RULE = 20
"""Cells of the rule between two records."""


def table_rows(node: Any, width: int, ink: Ink) -> list[Line]:
    """Return the rows of a table (a ``SyntaxTreeNode``)."""
    rows = [row for part in node.children for row in part.children]
    bold = ink.with_style(bold=True)
    texts = [[_runs(cell, bold if number == 0 else ink) for cell in row.children] for number, row in enumerate(rows)]
    widths = _widths(texts, width)
    if widths is None or _is_crowded(texts, widths, width):
        return _as_records(texts, width, ink)
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


def _is_crowded(rows: Sequence[Sequence[Sequence[Run]]], widths: Sequence[int], width: int) -> bool:
    """Whether a column of a narrow table would be wrapped into a few cells."""
    return width < _NARROW and any(
        given < _READABLE and any(_cells(row[column]) > given for row in rows) for column, given in enumerate(widths)
    )


def _as_records(rows: Sequence[Sequence[Sequence[Run]]], width: int, ink: Ink) -> list[Line]:
    """Return each row as lines of heading and value, with a rule between two rows."""
    heads, *records = rows
    if not records:
        return wrap(
            [run for number, head in enumerate(heads) for run in ([ink.run(" | ")] if number else []) + [*head]], width
        )
    lines: list[Line] = []
    for number, record in enumerate(records):
        if number:
            lines.append(Line.of(Run("─" * min(width, _RULE), _BORDER)))
        for head, cell in zip(heads, record, strict=True):
            if cell:
                lines += wrap([*head, ink.run(": ") if head else ink.run(""), *cell], width)
    return lines

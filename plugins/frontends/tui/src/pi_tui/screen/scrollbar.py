"""The scrollbar at the right edge, and the row that jumps to the end while the user has scrolled up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Line, Run
from pi_tui.lines.line import cells, cut, cut_text

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["with_jump", "with_scrollbar"]


def with_scrollbar(rows: Sequence[Line], width: int, begin: float, end: float) -> list[Line]:
    """Return rows with a scrollbar in their last cell, whose thumb lies between two fractions of the height."""
    first = min(int(begin * len(rows)), len(rows) - 1)
    last = max(round(end * len(rows)), first + 1)
    return [_with_cell(row, width, is_thumb=first <= number < last) for number, row in enumerate(rows)]


def with_jump(rows: Sequence[Line], width: int, hint: str) -> list[Line]:
    """Return rows whose last one is replaced by the label that jumps to the end."""
    text = cut_text(f" ↓ Jump to latest message{f' · {hint}' if hint else ''} ", width)
    left = (width - cells(text)) // 2
    return [*rows[:-1], Line.of(Run(" " * left), Run(text, "accent", background="selectedBg"))]


def _with_cell(row: Line, width: int, *, is_thumb: bool) -> Line:
    short = cut(row, width - 1, "")
    gap = width - 1 - cells(str(short))
    behind = None if row.fill is None else row.fill
    bar = Run("█" if is_thumb else "│", "scrollbarThumb" if is_thumb else "borderMuted")
    return Line((*short.runs, Run(" " * gap, background=behind), bar), row.fill)

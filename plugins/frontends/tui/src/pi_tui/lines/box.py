"""Rows in a box, and previews of long texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Line, Run
from pi_terminal_kit.words import count as count_of
from pi_tui.lines.ansi import runs_of_lines
from pi_tui.lines.line import fill, indent
from pi_tui.lines.wrap import chop, wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_tui.lines.look import Look

__all__ = ["MOST_EXPANDED", "boxed", "first_lines", "inner_width", "last_lines", "more", "output_rows"]

MOST_EXPANDED = 50_000
"""Maximum number of characters of an expanded text."""

_LONGEST_LINE = 2000
"""Maximum number of characters of a line in a preview."""


def inner_width(width: int) -> int:
    """Return the number of cells available for text in a row of a box."""
    return max(width - 2, 1)


def boxed(rows: Sequence[Line], background: str, width: int) -> list[Line]:
    """Return rows with a background, one cell of padding on each side, and a blank row above and below."""
    inner = indent(rows, 1, width) if width > 2 else rows  # noqa: PLR2004 - padding left, a cell of text
    return fill([Line(), *inner, Line()], background)


def output_rows(text: str, width: int, role: str = "toolOutput", *, words: bool = False) -> list[Line]:
    """Return the rows of a text with colours (SGR); lines are broken wherever a row is full, or between words."""
    breaks = wrap if words else chop
    return [row for runs in runs_of_lines(text, Run("", role)) for row in breaks(runs, width)]


def more(count: int, which: str, look: Look, width: int, *, total: int | None = None) -> list[Line]:
    """Return a row such as ``... (36 earlier lines, ctrl+o to expand)``; no row if the count is 0."""
    if not count:
        return []
    hint = look.hints.get("expand")
    text = f"{count_of(count, f'{which} line')}{f', {total:,} total' if total is not None else ''}"
    return wrap([Run(f"... ({text}{f', {hint} to expand' if hint else ''})", "muted")], width)


def first_lines(
    text: str, count: int, look: Look, width: int, role: str = "toolOutput", *, words: bool = False
) -> list[Line]:
    """Return the first lines of a text and a hint about further lines, or the whole text if the look is expanded.

    Args:
        text: The text.
        count: The number of lines.
        look: The look.
        width: Cells of a row.
        role: The role of the text.
        words: Whether long lines are broken between words, as prose is, and not wherever a row is full.
    """
    if look.expanded:
        return _all(text, width, role, from_end=False, words=words)
    lines = text.split("\n", count)
    left = lines[count].count("\n") + 1 if len(lines) > count else 0
    rows = output_rows("\n".join([line[:_LONGEST_LINE] for line in lines[:count]]), width, role, words=words)
    return rows + more(left, "more", look, width)


def last_lines(text: str, count: int, look: Look, width: int, role: str = "toolOutput") -> list[Line]:
    """Return the last rows of a text below a hint about earlier lines, or the whole text if the look is expanded."""
    if look.expanded:
        return _all(text, width, role, from_end=True)
    lines = text.rsplit("\n", count)
    kept = lines[1:] if len(lines) > count else lines
    rows = output_rows("\n".join([line[-_LONGEST_LINE:] for line in kept]), width, role)
    hidden = lines[0].count("\n") + 1 if len(lines) > count else 0
    hidden += max(len(rows) - count, 0)  # a long line has several rows
    return more(hidden, "earlier", look, width) + rows[-count:]


def _all(text: str, width: int, role: str, *, from_end: bool, words: bool = False) -> list[Line]:
    if len(text) <= MOST_EXPANDED:
        return output_rows(text, width, role, words=words)
    left = len(text) - MOST_EXPANDED
    note = wrap([Run(f"... ({left:,} characters are left out)", "muted")], width)
    if from_end:
        return [*note, *output_rows(text[-MOST_EXPANDED:], width, role)]
    return [*output_rows(text[:MOST_EXPANDED], width, role, words=words), *note]

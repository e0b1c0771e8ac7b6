"""Conversion of rows that plugins draw for the transcript: cleaned, colours as runs, cut to the width."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from pi_hookspecs import Line, Run
from pi_tui.lines.ansi import styled
from pi_tui.lines.line import cut
from pi_tui.view.clean import clean_output

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pi_hookspecs import ToolResult

__all__ = ["Drawings", "foreign_rows"]


class Drawings(Protocol):
    """Lets plugins draw, as ``session.renderings`` does; None if no plugin draws the value, or if one failed."""

    def custom_lines(self, value: Any, *, width: int, expanded: bool) -> Sequence[str | Line] | None:
        """Return the rows of a plugin's message or entry."""
        ...

    def tool_call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        width: int,
        expanded: bool,
        partial: bool,
        call_id: str | None = None,
    ) -> Sequence[str | Line] | None:
        """Return the rows of a tool's call."""
        ...

    def tool_result(
        self,
        name: str,
        result: ToolResult,
        *,
        width: int,
        expanded: bool,
        partial: bool,
        call_id: str | None = None,
    ) -> Sequence[str | Line] | None:
        """Return the rows of a tool's result."""
        ...

    def is_framed(self, name: str) -> bool:
        """Return whether a tool is drawn in pi's box."""
        ...

    def markdown(self, text: str) -> str:
        """Return the Markdown to display for a complete message."""
        ...


def foreign_rows(rows: Iterable[str | Line], width: int) -> list[Line]:
    """Return rows that are safe to draw: no control characters, no line breaks, at most ``width`` cells."""
    return [_plain(row) if _is_plain(row, width) else cut(_safe(row), width) for row in rows]


def _is_plain(row: str | Line, width: int) -> bool:
    """Whether a row can be drawn as it is: most rows are such, in each frame."""
    return isinstance(row, str) and len(row) <= width and row.isascii() and row.isprintable()


def _plain(row: str | Line) -> Line:
    return Line((Run(str(row)),) if row else ())


def _safe(row: str | Line) -> Line:
    if isinstance(row, str):
        return Line(styled(_one_row(row)))
    return Line(tuple([part for run in row.runs for part in _safe_runs(run)]), _name(row.fill))


def _safe_runs(run: Run) -> tuple[Run, ...]:
    """Return a run in parts with validated fields: an invalid one would raise where runs are hashed and drawn."""
    link = run.link if isinstance(run.link, str) and run.link and run.link.isprintable() else None
    bold, dim, italic, underline, reverse = map(bool, run[2:7])
    role, background = _name(run.role) or "text", _name(run.background)
    style = Run("", role, bold, dim, italic, underline, reverse, link, background, bool(run.strike))
    return styled(_one_row(str(run.text)), style)


def _name(role: object) -> str | None:
    return role if isinstance(role, str) else None


def _one_row(text: str) -> str:
    return clean_output(text).replace("\n", " ")

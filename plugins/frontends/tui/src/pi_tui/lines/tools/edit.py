"""View of a changed file: its diff."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_tui.lines.box import first_lines
from pi_tui.lines.diff import diff_rows
from pi_tui.lines.tools.view import label, title
from pi_tui.view.clean import clean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs import Line, Run
    from pi_tui.lines.look import Look
    from pi_tui.view.blocks import Tool

__all__ = ["EditView"]

_MOST_DIFF = 100_000


class EditView:
    """``edit x.py`` and the numbered lines."""

    def title(self, arguments: Mapping[str, Any], look: Look) -> list[Run]:
        """Return the path."""
        return title("edit", look.path(label(arguments, "path", "file_path")) or "...")

    def body(self, block: Tool, arguments: Mapping[str, Any], look: Look, width: int) -> list[Line]:
        """Return the diff, or the reason for a failure."""
        if block.status == "error":
            return first_lines(block.output.strip("\n"), 10, look, width, "error")
        diff = block.details.get("diff") if isinstance(block.details, dict) else None
        if not isinstance(diff, str) or not diff:
            return []
        text = clean(diff)
        return diff_rows(text, width) if len(text) <= _MOST_DIFF else first_lines(text, 100, look, width)

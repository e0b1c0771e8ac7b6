"""View of a changed file: its diff."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import Run
from pi_tui.lines.box import first_lines
from pi_tui.lines.diff import diff_rows
from pi_tui.lines.tools.requested import requested
from pi_tui.lines.tools.view import failure, place, title
from pi_tui.view.clean import clean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs import Line
    from pi_tui.lines.look import Look
    from pi_tui.view.blocks import Tool

__all__ = ["EditView"]

_MOST_DIFF = 100_000


class EditView:
    """``edit x.py`` and the numbered lines."""

    def title(self, arguments: Mapping[str, Any], look: Look) -> list[Run]:
        """Return the path."""
        return title("edit", Run(" "), place(arguments, look, "path", "file_path"))

    def body(self, block: Tool, arguments: Mapping[str, Any], look: Look, width: int) -> list[Line]:
        """Return the diff, or the reason for a failure; before the file is changed, what is to be replaced."""
        if block.status == "error":
            return failure(block, look, width)
        diff = block.details.get("diff") if isinstance(block.details, dict) else None
        if not isinstance(diff, str) or not diff:
            lines = [*requested(block.arguments, look)] if block.status in ("pending", "running") else []
            return diff_rows("\n".join(lines), width) if lines else []
        text = clean(diff)
        return diff_rows(text, width) if len(text) <= _MOST_DIFF else first_lines(text, 100, look, width)

"""View of a file that is written: its first lines, also while they are received."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_tui.lines.box import first_lines
from pi_tui.lines.tools.read import code_preview
from pi_tui.lines.tools.view import label, text_argument, title

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs import Line, Run
    from pi_tui.lines.look import Look
    from pi_tui.view.blocks import Tool

__all__ = ["WriteView"]

_FIRST = 10


class WriteView:
    """``write x.py`` and the content."""

    def title(self, arguments: Mapping[str, Any], look: Look) -> list[Run]:
        """Return the path."""
        return title("write", look.path(label(arguments, "path", "file_path")) or "...")

    def body(self, block: Tool, arguments: Mapping[str, Any], look: Look, width: int) -> list[Line]:
        """Return the content, highlighted once it is complete, and the reason for a failure."""
        content = text_argument(arguments, "content").removesuffix("\n")
        rows = []
        if content and block.arguments is None:
            rows = first_lines(content, _FIRST, look, width)
        elif content:
            rows = code_preview(content, label(arguments, "path", "file_path"), look, width, _FIRST)
        if block.status == "error":
            rows += first_lines(block.output.strip("\n"), _FIRST, look, width, "error")
        return rows

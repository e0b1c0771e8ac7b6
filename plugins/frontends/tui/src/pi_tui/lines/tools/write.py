"""View of a file that is written: its first lines, also while they are received."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import Run
from pi_tui.lines.box import first_lines
from pi_tui.lines.tools.read import code_preview
from pi_tui.lines.tools.view import failure, is_invalid, label, place, text_argument, title
from pi_tui.lines.wrap import wrap

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs import Line
    from pi_tui.lines.look import Look
    from pi_tui.view.blocks import Tool

__all__ = ["WriteView"]

_FIRST = 10


class WriteView:
    """``write x.py`` and the content."""

    def title(self, arguments: Mapping[str, Any], look: Look) -> list[Run]:
        """Return the path."""
        return title("write", Run(" "), place(arguments, look, "path", "file_path"))

    def body(self, block: Tool, arguments: Mapping[str, Any], look: Look, width: int) -> list[Line]:
        """Return the content, highlighted once it is complete, and the reason for a failure."""
        content = text_argument(arguments, "content").removesuffix("\n")
        rows = wrap([Run("[invalid arg: content]", "error")], width) if is_invalid(arguments, "content") else []
        if content and block.arguments is None:
            rows = first_lines(content, _FIRST, look, width)
        elif content:
            rows = code_preview(content, label(arguments, "path", "file_path"), look, width, _FIRST)
        if block.status == "error":
            rows += failure(block, look, width)
        return rows

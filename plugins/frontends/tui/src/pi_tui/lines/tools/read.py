"""View of a file that was read: its name, and its content if the look is expanded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import Run
from pi_tui.lines.ansi import plain
from pi_tui.lines.box import MOST_EXPANDED, first_lines, more
from pi_tui.lines.markdown.code import highlighted
from pi_tui.lines.tools.view import label, title
from pi_tui.lines.wrap import chop

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs import Line
    from pi_tui.lines.look import Look
    from pi_tui.view.blocks import Tool

__all__ = ["ReadView", "code_preview"]


class ReadView:
    """``read x.py:10-20``."""

    def title(self, arguments: Mapping[str, Any], look: Look) -> list[Run]:
        """Return the path and the requested lines."""
        path = look.path(label(arguments, "path", "file_path"))
        return title("read", path or "...", *_range(arguments))

    def body(self, block: Tool, arguments: Mapping[str, Any], look: Look, width: int) -> list[Line]:
        """Return the reason for a failure; otherwise the content, but only if the look is expanded."""
        if block.status == "error":
            return first_lines(block.output.strip("\n"), 10, look, width, "error")
        if not look.expanded or not block.output:
            return []
        return code_preview(plain(block.output), label(arguments, "path", "file_path"), look, width)


def _range(arguments: Mapping[str, Any]) -> list[Run]:
    offset, limit = arguments.get("offset"), arguments.get("limit")
    if not isinstance(offset, int) and not isinstance(limit, int):
        return []
    start = offset if isinstance(offset, int) else 1
    return [Run(f":{start}{f'-{start + limit - 1}' if isinstance(limit, int) else ''}", "warning")]


def code_preview(code: str, path: str, look: Look, width: int, count: int = 10) -> list[Line]:
    """Return the first lines of a file, highlighted by the file's name, or all lines if the look is expanded."""
    if len(code) > MOST_EXPANDED:
        return first_lines(code, count, look, width)
    name = path.rpartition("/")[2]
    lines = highlighted(code, name if "." in name else "", Run("", "toolOutput"))
    visible = lines if look.expanded else lines[:count]
    rows = [row for line in visible for row in chop(line, width)]
    return rows + more(len(lines) - len(visible), "more", look, width)

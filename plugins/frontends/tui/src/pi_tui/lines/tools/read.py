"""View of a file that was read: its name, and its content if the look is expanded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import Run
from pi_tui.lines.ansi import plain
from pi_tui.lines.box import MOST_EXPANDED, first_lines, more
from pi_tui.lines.markdown.code import highlighted
from pi_tui.lines.tools.limits import limit_rows, without_notice
from pi_tui.lines.tools.view import failure, label, place, title
from pi_tui.lines.wrap import chop

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs import Line
    from pi_tui.lines.look import Look
    from pi_tui.view.blocks import Tool

__all__ = ["ReadView", "code_preview"]

_INSTRUCTIONS = {"AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"}


class ReadView:
    """``read x.py:10-20``."""

    def title(self, arguments: Mapping[str, Any], look: Look) -> list[Run]:
        """Return the path and the requested lines; of a skill or instructions, what they are."""
        path = label(arguments, "path", "file_path")
        folder, _, name = path.rpartition("/")
        hint = look.hints.get("expand")
        more_of_it = [Run(f" ({hint} to expand)", "dim")] if hint else []
        if name == "SKILL.md" and folder and not look.expanded:
            skill = Run(folder.rpartition("/")[2], "customMessageText")
            return [Run("[skill] ", "toolTitle", bold=True), skill, *_range(arguments), *more_of_it]
        kind = " resource" if name in _INSTRUCTIONS and not look.expanded else ""
        runs = title(f"read{kind}", Run(" "), place(arguments, look, "path", "file_path"), *_range(arguments))
        return [*runs, *more_of_it] if kind else runs

    def body(self, block: Tool, arguments: Mapping[str, Any], look: Look, width: int) -> list[Line]:
        """Return the reason for a failure; otherwise the content, but only if the look is expanded."""
        if block.status == "error":
            return failure(block, look, width)
        if not look.expanded or not block.output:
            return []
        content = without_notice(plain(block.output), block.details)
        rows = code_preview(content, label(arguments, "path", "file_path"), look, width)
        return [*rows, *limit_rows(block.details, look, width)]


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
    return rows + more(len(lines) - len(visible), "more", look, width, total=len(lines))

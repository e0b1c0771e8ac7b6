"""View of grep, find and ls: the pattern, the place and the first results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import Run
from pi_tui.lines.box import first_lines
from pi_tui.lines.tools.view import exact_label, label, title

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs import Line
    from pi_tui.lines.look import Look
    from pi_tui.view.blocks import Tool

__all__ = ["SearchView"]


class SearchView:
    """``grep /pattern/ in src``.

    Args:
        name: The tool's name.
        count: Number of lines of a preview.
    """

    def __init__(self, name: str, count: int) -> None:
        self._name = name
        self._count = count

    def title(self, arguments: Mapping[str, Any], look: Look) -> list[Run]:
        """Return the pattern, the place and the limits."""
        pattern, path = exact_label(arguments, "pattern"), look.path(label(arguments, "path")) or "."
        if self._name == "ls":
            return title("ls", path)
        quoted = f"/{pattern}/" if self._name == "grep" and pattern else pattern
        runs = title(self._name, quoted or "...", Run(f" in {path}", "toolOutput"))
        glob, limit = label(arguments, "glob"), arguments.get("limit")
        if glob:
            runs.append(Run(f" ({glob})", "toolOutput"))
        if isinstance(limit, int):
            runs.append(Run(f" limit {limit}", "toolOutput"))
        return runs

    def body(self, block: Tool, arguments: Mapping[str, Any], look: Look, width: int) -> list[Line]:
        """Return the first results."""
        output = block.output.strip("\n")
        role = "error" if block.status == "error" else "toolOutput"
        return first_lines(output, self._count, look, width, role) if output else []

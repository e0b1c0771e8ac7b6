"""View of grep, find and ls: the pattern, the place and the first results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import Run
from pi_tui.lines.box import first_lines
from pi_tui.lines.tools.limits import limit_rows, without_notice
from pi_tui.lines.tools.view import exact_label, failure, is_invalid, label, place, title

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
        if self._name == "ls":
            runs = title("ls", Run(" "), place(arguments, look, "path", empty="."))
        else:
            path = place(arguments, look, "path", empty=".", role="toolOutput")
            runs = title(self._name, self._pattern(arguments), Run(" in ", "toolOutput"), path)
        glob, limit = label(arguments, "glob"), arguments.get("limit")
        if glob:
            runs.append(Run(f" ({glob})", "toolOutput"))
        if isinstance(limit, int):
            runs.append(Run(f" limit {limit}", "toolOutput"))
        return runs

    def body(self, block: Tool, arguments: Mapping[str, Any], look: Look, width: int) -> list[Line]:
        """Return the first results, and what was left out."""
        if block.status == "error":
            return failure(block, look, width)
        output = without_notice(block.output.strip("\n"), block.details)
        rows = first_lines(output, self._count, look, width) if output else []
        return [*rows, *limit_rows(block.details, look, width)]

    def _pattern(self, arguments: Mapping[str, Any]) -> Run:
        if is_invalid(arguments, "pattern"):
            return Run(" [invalid arg]", "error")
        pattern = exact_label(arguments, "pattern")
        quoted = f"/{pattern}/" if self._name == "grep" and pattern else pattern
        return Run(f" {quoted or '...'}", "accent")

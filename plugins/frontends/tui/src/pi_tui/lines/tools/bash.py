"""View of a command that the model runs: the end of its output, and its duration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import Run
from pi_tui.lines.box import last_lines
from pi_tui.lines.tools.view import text_argument
from pi_tui.lines.wrap import wrap

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs import Line
    from pi_tui.lines.look import Look
    from pi_tui.view.blocks import Tool

__all__ = ["BashView"]

_LAST = 5


class BashView:
    """``$ command``, the last lines, ``Took 0.1s``."""

    def title(self, arguments: Mapping[str, Any], look: Look) -> list[Run]:
        """Return the command and its timeout."""
        timeout = arguments.get("timeout")
        limit = [Run(f" (timeout {timeout:g}s)", "muted")] if isinstance(timeout, int | float) else []
        command = text_argument(arguments, "command") or "..."
        return [Run(f"$ {command}", "toolTitle", bold=True), *limit]

    def body(self, block: Tool, arguments: Mapping[str, Any], look: Look, width: int) -> list[Line]:
        """Return the output's end and the duration."""
        output = block.output.strip("\n")
        rows = last_lines(output, _LAST, look, width) if output else []
        if block.status == "running" and block.started is not None:
            rows += wrap([Run(f"Elapsed {max(look.now - block.started, 0):.1f}s", "muted")], width)
        elif block.duration_ms is not None:
            rows += wrap([Run(f"Took {block.duration_ms / 1000:.1f}s", "muted")], width)
        return rows

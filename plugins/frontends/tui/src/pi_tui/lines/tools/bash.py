"""View of a command that the model runs: the end of its output, and its duration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import Run
from pi_terminal_kit.words import duration
from pi_tui.lines.box import last_lines
from pi_tui.lines.tools.limits import limit_rows, without_notice
from pi_tui.lines.tools.view import is_invalid, text_argument
from pi_tui.lines.wrap import wrap

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs import Line
    from pi_tui.lines.look import Look
    from pi_tui.view.blocks import Tool

__all__ = ["BashView"]

_LAST = 5


class BashView:
    """``$ command``, the last lines, ``Took 0.08 s``."""

    def title(self, arguments: Mapping[str, Any], look: Look) -> list[Run]:
        """Return the command and its timeout."""
        timeout = arguments.get("timeout")
        limit = [Run(f" (timeout {timeout:g}s)", "muted")] if isinstance(timeout, int | float) else []
        missing = "[invalid arg]" if is_invalid(arguments, "command") else "..."
        command = text_argument(arguments, "command") or missing
        return [Run(f"$ {command}", "toolTitle", bold=True), *limit]

    def body(self, block: Tool, arguments: Mapping[str, Any], look: Look, width: int) -> list[Line]:
        """Return the output's end, what was left out of it and the duration."""
        output = without_notice(block.output.strip("\n"), block.details)
        rows = last_lines(output, _LAST, look, width) if output else []
        rows += limit_rows(block.details, look, width)
        if block.status == "running" and block.started is not None:
            rows += wrap([Run(f"Elapsed {_elapsed(look.now - block.started)}", "muted")], width)
        elif block.duration_ms is not None:
            rows += wrap([Run(f"Took {duration(block.duration_ms)}", "muted")], width)
        return rows


def _elapsed(seconds: float) -> str:
    """Return a duration that grows: hundredths of a second would change with each frame."""
    return f"{max(seconds, 0):.1f} s" if seconds < 1 else duration(round(seconds * 1000))

"""View of a plugin's tool without a renderer: its arguments and the first lines of its result."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pi_hookspecs import Run
from pi_tui.lines.box import first_lines
from pi_tui.lines.tools.view import title
from pi_tui.view.clean import clean_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs import Line
    from pi_tui.lines.look import Look
    from pi_tui.view.blocks import Tool

__all__ = ["OtherView"]

_FIRST = 10

_LONGEST_VALUE = 60


class OtherView:
    """``name key=value``; the caller puts the name in front."""

    def title(self, arguments: Mapping[str, Any], look: Look) -> list[Run]:
        """Return the arguments."""
        parts = [Run(f" {clean_line(str(name))}={_short(value)}", "muted") for name, value in arguments.items()]
        return title("", *parts)[1:]

    def body(self, block: Tool, arguments: Mapping[str, Any], look: Look, width: int) -> list[Line]:
        """Return the first lines of the result."""
        output = block.output.strip("\n")
        role = "error" if block.status == "error" else "toolOutput"
        return first_lines(output, _FIRST, look, width, role, words=True) if output else []


def _short(value: Any) -> str:
    if isinstance(value, str):
        text = value[: 4 * _LONGEST_VALUE]
    else:
        try:
            text = json.dumps(value, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError):
            text = repr(value)
    line = clean_line(text)
    return line if len(line) <= _LONGEST_VALUE else f"{line[: _LONGEST_VALUE - 1]}…"

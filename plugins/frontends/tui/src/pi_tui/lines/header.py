"""The rows above the conversation: the version, and the keys that a user needs first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Run
from pi_tui.lines.line import indent
from pi_tui.lines.wrap import wrap

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_hookspecs import Line

__all__ = ["FIRST_HINTS", "header_hints", "header_rows"]

FIRST_HINTS: Mapping[str, str] = {
    "escape": "interrupt",
    "ctrl+c/ctrl+d": "clear/exit",
    "/": "commands",
    "!": "bash",
    "ctrl+o": "more",
}
"""The hints that are displayed before the user's own keys are known."""


def header_hints(keys_of: Callable[..., str]) -> dict[str, str]:
    """Return the description of each key, in display order.

    Args:
        keys_of: Returns the keys of actions; an empty text if they have none.
    """
    hints = {
        keys_of("app.interrupt"): "interrupt",
        keys_of("app.clear", "app.exit"): "clear/exit",
        "/": "commands",
        "!": "bash",
        keys_of("app.tools.expand"): "more",
    }
    return {keys: does for keys, does in hints.items() if keys}


def header_rows(version: str, hints: Mapping[str, str], width: int) -> list[Line]:
    """Return the rows of the header.

    Args:
        version: The version of pi.
        hints: The description of each key, in display order.
        width: Cells of a row.
    """
    inner = max(width - 1, 1)
    rows = wrap([Run("pi", "accent", bold=True), Run(f" v{version}", "dim")], inner)
    runs: list[Run] = []
    for key, does in hints.items():
        runs += [Run(" · ", "muted")] * bool(runs) + [Run(key, "dim"), Run(f" {does}", "muted")]
    return indent([*rows, *wrap(runs, inner)], 1, width)

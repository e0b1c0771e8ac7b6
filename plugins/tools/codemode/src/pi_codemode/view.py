"""How a script and its calls are displayed: a row for each call, then what the script returned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import TextContent, ToolRenderer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_hookspecs import ToolResult

__all__ = ["VIEW", "view_of_saved"]

_MARKS = {"running": "…", "done": "✓", "failed": "✗"}
_ROWS = 10
"""Rows of a script, of its calls and of its output that are displayed until the user expands them."""


def _render_call(args: Mapping[str, Any], *, width: int, expanded: bool, partial: bool) -> Sequence[str]:
    del width, partial
    return ["codemode", *_first(str(args.get("code") or "").strip("\n").splitlines(), expanded=expanded)]


def _render_result(result: ToolResult, *, width: int, expanded: bool, partial: bool) -> Sequence[str]:
    del width, partial
    calls = result.details.get("calls", ()) if isinstance(result.details, dict) else ()
    rows = [
        f"{_MARKS.get(each['state'], '?')} {each['tool']} {each['summary']}".rstrip()
        + (f"  {each['seconds']:.1f}s" if each["state"] != "running" else "")
        for each in calls
    ]
    text = "\n".join(each.text for each in result.content if isinstance(each, TextContent))
    return [*_last(rows, expanded=expanded), *_last(text.splitlines(), expanded=expanded)]


def _first(lines: list[str], *, expanded: bool) -> list[str]:
    if expanded or len(lines) <= _ROWS:
        return lines
    return [*lines[:_ROWS], f"... ({len(lines) - _ROWS} more lines)"]


def _last(lines: list[str], *, expanded: bool) -> list[str]:
    if expanded or len(lines) <= _ROWS:
        return lines
    return [f"... ({len(lines) - _ROWS} earlier lines)", *lines[-_ROWS:]]


VIEW = ToolRenderer("codemode", render_call=_render_call, render_result=_render_result)
"""Displays the calls and results of the tool."""


def view_of_saved(name: str) -> ToolRenderer:
    """Return the display of a tool that was made of a script: its result is displayed as that of a script."""
    return ToolRenderer(name, render_result=_render_result)

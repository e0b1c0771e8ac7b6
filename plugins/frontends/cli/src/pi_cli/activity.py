"""Formats a tool call in one line: its name, its most important argument, then the others shortened."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pi_cli.words import one_line, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["call_line"]

_MAIN_ARGUMENTS = ("command", "path", "file_path", "pattern", "query", "url", "name")
"""Arguments that describe a call best, most important first."""

_MINOR = 40
"""Columns for any other argument."""

_ENOUGH = 1000
"""Characters of a text that are examined, since more cannot fit in a line."""


def call_line(tool: str, arguments: Mapping[str, Any], width: int) -> str:
    """Return ``bash ls -la``, ``read README.md limit=5`` or ``edit tide.py``, no wider than asked."""
    return shorten(f"{one_line(tool)} {_summary(tool, arguments)}".rstrip(), width)


def _summary(tool: str, arguments: Mapping[str, Any]) -> str:
    first = next((name for name in _MAIN_ARGUMENTS if isinstance(arguments.get(name), str)), None)
    if first is None and len(arguments) == 1:
        first = next(iter(arguments))
    others = {name: value for name, value in arguments.items() if name != first}
    if tool in ("edit", "write") and first is not None:  # their result shows the change
        others = {name: value for name, value in others.items() if name not in _CHANGES}
    words = [_value(arguments[first])] if first is not None else []
    words += [f"{one_line(name)}={shorten(_value(value), _MINOR)}" for name, value in others.items()]
    return " ".join(words)


_CHANGES = frozenset({"content", "edits", "oldText", "newText", "old_text", "new_text"})
"""Arguments that contain the text of a change."""


def _value(value: Any) -> str:
    if not isinstance(value, str):
        try:
            value = json.dumps(value, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError):
            value = repr(value)
    return one_line(value[:_ENOUGH])

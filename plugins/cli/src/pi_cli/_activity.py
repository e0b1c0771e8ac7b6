"""What a tool call looks like in one line: its name, its most telling argument, then the others in brief."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pi_cli._words import one_line, shorten, width_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["call_line", "failure_line"]

_TELLING = ("command", "path", "file_path", "pattern", "query", "url", "name")
"""Arguments that say by themselves what a call is about, best first."""

_MINOR = 40
"""Columns for any other argument."""

_ENOUGH = 1000
"""Characters at either end of a text that can still be seen in a line; a megabyte is not looked through."""


def call_line(tool: str, arguments: Mapping[str, Any], width: int) -> str:
    """Return ``bash ls -la`` or ``read README.md limit=5``, no wider than asked."""
    return shorten(f"{one_line(tool)} {_summary(arguments)}".rstrip(), width)


def failure_line(tool: str, arguments: Mapping[str, Any], reason: str, width: int) -> str:
    """Return ``bash make: ... Command exited with code 2``: call, beginning and end of the reason; fits the width."""
    call = shorten(call_line(tool, arguments, width), max(width // 2, len(tool)))
    if len(reason) > 2 * _ENOUGH:
        reason = reason[:_ENOUGH] + reason[-_ENOUGH:]
    reason = one_line(reason) or "failed without a reason"
    room = max(width - width_of(call) - 2, 2)
    if width_of(reason) > room:  # commands say what went wrong first and how they ended last
        tail = reason[-(room // 2) :].lstrip()
        reason = f"{shorten(reason, room - width_of(tail))}{tail}"
    return shorten(f"{call}: {reason}", width)


def _summary(arguments: Mapping[str, Any]) -> str:
    first = next((name for name in _TELLING if isinstance(arguments.get(name), str)), None)
    if first is None and len(arguments) == 1:
        first = next(iter(arguments))
    words = [_value(arguments[first])] if first is not None else []
    words += [
        f"{one_line(name)}={shorten(_value(value), _MINOR)}" for name, value in arguments.items() if name != first
    ]
    return " ".join(words)


def _value(value: Any) -> str:
    if not isinstance(value, str):
        try:
            value = json.dumps(value, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError):
            value = repr(value)
    return one_line(value[:_ENOUGH])

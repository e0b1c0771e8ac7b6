"""Extracts the searchable text of an entry from its line in the session file."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

import orjson
from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MOST_TEXT", "Piece", "parsed", "pieces"]

MOST_TEXT = 50_000
"""Characters of an entry that are indexed."""

_DEEPEST = 20
"""Levels of nested arguments that are read."""


@frozen
class Piece:
    """A text of an entry; an assistant entry has a separate one for each tool call.

    Attributes:
        time: Unix milliseconds, 0 when the entry has no valid time.
    """

    entry: str
    role: str
    tool: str | None
    time: int
    text: str


def parsed(line: bytes) -> dict[str, Any]:
    """Return the object in a line; an empty one for anything else."""
    try:
        value = orjson.loads(line)
    except ValueError:
        try:
            value = json.loads(line)  # lone surrogates, numbers of other ranges
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}


def pieces(entry: dict[str, Any]) -> Iterator[Piece]:
    """Yield the texts of an entry; nothing for an entry that no user sees."""
    name, time = entry.get("id"), _milliseconds(entry.get("timestamp"))
    for role, tool, text in _texts(entry):
        flat = " ".join(text[:MOST_TEXT].split()).replace("\0", " ").encode("utf-8", "replace").decode()
        if flat:
            yield Piece(name if isinstance(name, str) else "", role, tool, time, flat)


def _texts(entry: dict[str, Any]) -> Iterator[tuple[str, str | None, str]]:
    kind, message = entry.get("type"), entry.get("message")
    if kind == "message" and isinstance(message, dict):
        yield from _of_message(message)
    elif kind == "custom_message":
        yield "custom", None, _joined(entry.get("content"))
    elif kind in ("compaction", "branch_summary"):
        yield "summary", None, _string(entry.get("summary"))
    elif kind == "session_info":
        yield "name", None, _string(entry.get("name"))


def _of_message(message: dict[str, Any]) -> Iterator[tuple[str, str | None, str]]:
    role, content = _string(message.get("role")), message.get("content")
    if role == "system":
        return
    if role == "bashExecution":
        yield role, "bash", f"{_string(message.get('command'))} {_string(message.get('output'))}"
        return
    tool = message.get("toolName")
    yield role, tool if isinstance(tool, str) else None, _joined(content)
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "toolCall":
            called = _string(block.get("name"))
            yield role, called, f"{called} {' '.join(_strings(block.get('arguments')))}"


def _joined(content: Any) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else ()
    return " ".join(_string(each.get("text")) for each in blocks if isinstance(each, dict) and "text" in each)


def _strings(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the texts and numbers within a call's arguments."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, int | float):
        yield str(value)
    elif depth < _DEEPEST:
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        for each in parts:
            yield from _strings(each, depth + 1)


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _milliseconds(timestamp: Any) -> int:
    try:
        return max(0, round(datetime.fromisoformat(timestamp).timestamp() * 1000))
    except (TypeError, ValueError, OverflowError, OSError):
        return 0

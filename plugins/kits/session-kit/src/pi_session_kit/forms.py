"""Converts entries of older versions and other programs to the current format."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["completed", "is_current_message", "is_old", "is_old_message", "modernised"]


def is_old(data: dict[str, Any]) -> bool:
    """Whether an entry has a form that only older versions or other programs write."""
    if data["type"] == "message":
        message = data.get("message")
        return isinstance(message, dict) and is_old_message(message)
    return data["type"] == "branch" or "firstKeptEntryIndex" in data or "firstKeptId" in data


def is_old_message(message: dict[str, Any]) -> bool:
    """Whether a message has a form that only older versions or other programs write."""
    return message.get("role") == "hookMessage" or "tool_use_id" in message or "timestamp" not in message


_USAGE = ("input", "output", "cacheRead", "cacheWrite", "totalTokens")
_FIELDS: dict[str, dict[str, Any]] = {
    "user": {},
    "assistant": {"api": str, "provider": str, "model": str, "stopReason": str},
    "toolResult": {"toolCallId": str, "toolName": str, "isError": bool},
}
_BLOCKS: dict[str, tuple[tuple[str, Any], ...]] = {
    "text": (("text", str),),
    "thinking": (("thinking", str),),
    "toolCall": (("id", str), ("name", str), ("arguments", dict)),
    "image": (("data", str), ("mimeType", str)),
}


def is_current_message(message: Any) -> bool:
    """Whether a message has all that today's format requires, so that its JSON can be passed on."""
    if not isinstance(message, dict) or is_old_message(message):
        return False
    role = message.get("role")
    fields = _FIELDS.get(role) if isinstance(role, str) else None
    if fields is None or any(type(message.get(name)) is not kind for name, kind in fields.items()):
        return False
    if role == "assistant":
        usage = message.get("usage")
        if not isinstance(usage, dict) or not isinstance(usage.get("cost"), dict):
            return False
        if any(type(usage.get(name)) is not int for name in _USAGE):
            return False
    content = message.get("content")
    return type(message["timestamp"]) is int and (
        (type(content) is list and all(map(_is_current_block, content))) or (type(content) is str and role == "user")
    )


def _is_current_block(block: Any) -> bool:
    kind = block.get("type") if isinstance(block, dict) else None
    fields = _BLOCKS.get(kind) if isinstance(kind, str) else None
    return fields is not None and all(type(block.get(name)) is wanted for name, wanted in fields)


def modernised(
    data: dict[str, Any], entry_id: str, parent_id: str | None, id_at: Callable[[int], str | None]
) -> dict[str, Any]:
    """Return an entry in the format of version 3; unknown fields are kept.

    Args:
        data: The entry as parsed; it is not changed.
        entry_id: Its id, where it has none.
        parent_id: The entry that it follows.
        id_at: Returns the id of the entry at a position in the file; the header's is 0.
    """
    rest = {key: value for key, value in data.items() if key not in ("type", "id", "parentId")}
    new = {"type": data["type"], "id": entry_id, "parentId": parent_id, **rest}
    if new["type"] == "branch":
        new |= {"type": "label", "targetId": parent_id or ""}
    if new["type"] == "compaction":
        place = new.pop("firstKeptEntryIndex", None)
        kept = new.pop("firstKeptId", None) or (id_at(place) if isinstance(place, int) else None)
        if kept is not None:
            new.setdefault("firstKeptEntryId", kept)
    if new["type"] == "message" and isinstance(new.get("message"), dict):
        new["message"] = _modern_message(new["message"], new.get("timestamp"))
    return new


def _modern_message(message: dict[str, Any], timestamp: Any) -> dict[str, Any]:
    new = {("toolCallId" if key == "tool_use_id" else key): value for key, value in message.items()}
    if "toolCallId" in message:
        new["toolCallId"] = message["toolCallId"]
    if new.get("role") == "hookMessage":
        new["role"] = "custom"
    new.setdefault("timestamp", _milliseconds(timestamp))
    return new


def _milliseconds(timestamp: Any) -> int:
    try:
        return int(datetime.fromisoformat(timestamp).timestamp() * 1000)
    except (TypeError, ValueError, OverflowError):
        return 0


_MISSING: dict[str, dict[str, Any]] = {
    "assistant": {"api": "", "provider": "", "model": ""},
    "toolResult": {"toolName": "", "toolCallId": ""},
    "custom": {"customType": ""},
    "bashExecution": {"command": "", "output": ""},
}
_WITH_BLOCKS = frozenset({"assistant", "toolResult"})
_WITH_CONTENT = _WITH_BLOCKS | {"user"}
_MISSING_IN_ENTRY: dict[str, dict[str, Any]] = {
    "compaction": {"tokensBefore": 0, "firstKeptEntryId": "", "summary": ""},
    "branch_summary": {"fromId": "root", "summary": ""},
}


def completed(data: dict[str, Any]) -> dict[str, Any]:
    """Return an entry with empty values for missing fields, as in short forms of early versions.

    A message may have no content, or null; an edit of the context, the new content alone.
    """
    new = {"timestamp": "", **_MISSING_IN_ENTRY.get(data["type"], {}), **data}
    if new["type"] == "context_edit" and isinstance(new.get("replacement"), str | list):
        new["replacement"] = {"content": new["replacement"]}
    message = new.get("message")
    if isinstance(message, dict):
        new["message"] = _completed_message(message)
    return new


def _completed_message(message: dict[str, Any]) -> dict[str, Any]:
    role = str(message.get("role"))  # a file may have anything there
    new = {**_MISSING.get(role, {}), **message}
    if role in _WITH_CONTENT and new.get("content") is None:
        new["content"] = []
    elif role in _WITH_BLOCKS and isinstance(new["content"], str):
        new["content"] = [{"type": "text", "text": new["content"]}]
    return new

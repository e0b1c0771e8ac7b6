"""Converts a message of a host that does not stream, as the events of a stream."""

from __future__ import annotations

from typing import Any

from pi_provider_kit import dicts

__all__ = ["whole_events"]


def whole_events(message: Any) -> list[dict[str, Any]]:
    """Return the events of a message; none for other data."""
    if not isinstance(message, dict) or message.get("type") != "message":
        return []
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {**message, "content": []}}]
    for index, block in enumerate(dicts(message.get("content"))):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events.append({"type": "content_block_stop", "index": index})
    stop = {name: message.get(name) for name in ("stop_reason", "stop_details")}
    return [*events, {"type": "message_delta", "delta": stop}, {"type": "message_stop"}]

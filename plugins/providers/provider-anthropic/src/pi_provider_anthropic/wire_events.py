"""The API's events as data: lenient parsing, and errors of invalid streams."""

from __future__ import annotations

from typing import Any

from pi_hookspecs.errors import RequestFailed
from pi_provider_kit import HttpFailed, compact_json, parse_object

__all__ = ["broken", "error_of", "parse_event"]

_NOTHING = (b"", b"null", b"[DONE]")
"""Data of gateways that is no event: heartbeats, and the end of another API."""

_NAMELESS = ("message", "error")
"""Types of events whose data has none: the name of a stream that gives no names, and of an error."""


def parse_event(name: str, data: bytes) -> dict[str, Any]:
    """Return the event that the server sent; ``name`` is used where its JSON has no type.

    What is an error in another shape, or a text, becomes an event ``error``.

    Raises:
        RequestFailed: It is not JSON, or no object.
    """
    if name == "error" or data[:1] != b"{":
        data = data.strip()
        if data in _NOTHING:
            return {"type": "ping"}
        if name == "error" or data[:1] not in (b"{", b"["):
            from pi_provider_kit import error_event

            data = error_event(data)
    event = parse_object(data, broken)
    kind = event.setdefault("type", name)
    if kind in _NAMELESS or event.get("error"):
        from pi_provider_kit import reported_error

        error = reported_error(event)
        return event if error is None else {**event, "type": "error"}
    return event


def error_of(event: dict[str, Any]) -> RequestFailed:
    """Return the failure of an ``error`` event, with the event's own JSON."""
    from pi_provider_kit import is_filter, reported_status

    request_id = event.get("request_id")
    return HttpFailed(
        compact_json(event),
        kind="filtered" if is_filter(event) else "event",
        status=reported_status(event),
        request_id=request_id if isinstance(request_id, str) else None,
    )


def broken(what: str) -> RequestFailed:
    """Return the failure of an invalid stream."""
    return RequestFailed(f"Anthropic stream is broken: {what}. Try again, or check what is between pi and the API.")

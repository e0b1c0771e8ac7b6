"""The API's events as data: lenient parsing, and errors of invalid streams."""

from __future__ import annotations

from typing import Any

from pi_hookspecs.errors import RequestFailed
from pi_provider_kit import compact_json, parse_object

__all__ = ["broken", "error_of", "parse_event"]

_STATUS_OF = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""HTTP status of an error that occurs within the stream."""


def parse_event(name: str, data: bytes) -> dict[str, Any]:
    """Return the event that the server sent; ``name`` is used where its JSON has no type.

    Raises:
        RequestFailed: It is not JSON, or no object.
    """
    event = parse_object(data, broken)
    event.setdefault("type", name)
    return event


def error_of(event: dict[str, Any]) -> RequestFailed:
    """Return the failure of an ``error`` event, with the event's own JSON."""
    from pi_provider_kit import HttpFailed

    problem = event.get("error")
    kind = problem.get("type") if isinstance(problem, dict) else None
    request_id = event.get("request_id")
    return HttpFailed(
        compact_json(event),
        kind="event",
        status=_STATUS_OF.get(kind) if isinstance(kind, str) else None,
        request_id=request_id if isinstance(request_id, str) else None,
    )


def broken(what: str) -> RequestFailed:
    """Return the failure of an invalid stream."""
    return RequestFailed(f"Anthropic stream is broken: {what}. Try again, or check what is between pi and the API.")

"""The API's events as data: parsed as leniently as is safe, with the words for a stream that is not as it should be."""

from __future__ import annotations

from typing import Any

from pi_hookspecs.errors import RequestFailed
from pi_provider_kit import compact_json, parse_json, shown_bytes

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
"""The status that an error would have had, had it come before the stream."""


def parse_event(name: str, data: bytes) -> dict[str, Any]:
    """Return the event that the server sent; ``name`` counts where its JSON has no type.

    Raises:
        RequestFailed: It is not JSON, or no object.
    """
    try:
        event = parse_json(data)
    except ValueError as error:
        raise broken(f"{shown_bytes(data)} is not JSON ({error})") from error
    if not isinstance(event, dict):
        raise broken(f"{shown_bytes(data)} is not an event")
    event.setdefault("type", name)
    return event


def error_of(event: dict[str, Any]) -> RequestFailed:
    """Return the failure that an ``error`` event tells of, in the event's own JSON."""
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
    """Return the failure of a stream that nobody can make sense of."""
    return RequestFailed(f"Anthropic stream is broken: {what}. Try again, or check what stands between pi and the API.")

"""Errors that a server reports within an answer, in whatever shape of JSON it does.

An API has one shape, and what stands between pi and it (gateways, web frameworks, proxies) has its own: ``{"detail"}``,
``{"error_message"}``, ``{"code", "message"}``, a status of its own. They arrive as an event, as a whole body, or with
the status 200.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_provider_kit.endings import ending_of
from pi_provider_kit.json_values import compact_json, parse_json

if TYPE_CHECKING:
    from collections.abc import Container

__all__ = ["error_event", "is_filter", "reported_error", "reported_status"]

_ERRORS = ("error", "errors", "error_message", "errorMessage", "error_msg", "errorMsg", "fault", "exception")
"""Keys that only an error has."""

_WORDS = ("message", "Message", "msg", "detail", "details", "error_description", "title")
"""Keys of an error's text, which events of an API may have, too."""

_STATUSES = ("status", "status_code", "statusCode", "raw_status_code", "code", "error_code", "http_status", "type")

_INNER = ("error", "base_resp", "fault", "detail", "message")
"""Keys below which a status may be."""

_STATUS_OF = {
    "invalid_prompt": 400,
    "invalid_request_error": 400,
    "context_length_exceeded": 400,
    "invalid_api_key": 401,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "request_too_large": 413,
    "insufficient_quota": 429,
    "rate_limit_exceeded": 429,
    "rate_limit_error": 429,
    "usage_limit_reached": 429,
    "api_error": 500,
    "server_error": 500,
    "internal_server_error": 500,
    "server_is_overloaded": 503,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""HTTP status of an error that has only a word for it."""

_FINE = ("", "0", "200", "success", "ok", "succeed", "none")
"""Codes and texts of what is no error."""

_FAILED = ("failed", "failure", "fail")
"""Values of ``status``, in an event that is none of the API's own."""

_DEPTH = 3


def reported_error(event: Any, own: Container[str] = ()) -> Any:
    """Return the error that an event or a body reports, an object or a text; None if it reports none.

    Args:
        event: Parsed JSON.
        own: Keys by which the API's own events are known: beside one of them, a ``message`` or a ``detail`` is none.
    """
    if not isinstance(event, dict):
        return None
    for name in _ERRORS:
        if not _is_empty(value := event.get(name)):
            return value if name == "error" and _says_all(value, event) else event
    if "error" in (event.get("object"), event.get("type"), event.get("status")):
        return event
    base = event.get("base_resp")  # MiniMax, also in answers that are fine
    if isinstance(base, dict) and str(base.get("status_code") or "").lower() not in _FINE:
        return event
    return event if not any(name in own for name in event) and _has_failed(event) else None


def reported_status(error: Any, depth: int = 0) -> int | None:
    """Return the HTTP status of an error within an answer, explicit or by its word; None if it has none."""
    if not isinstance(error, dict):
        return None
    for name in _STATUSES:
        status = error.get(name)
        if isinstance(status, str) and status.isdecimal():
            status = int(status)
        if isinstance(status, int) and not isinstance(status, bool) and 400 <= status < 600:  # noqa: PLR2004 - RFC 9110, 15
            return status
        if isinstance(status, str) and status in _STATUS_OF:
            return _STATUS_OF[status]
    inner = (error.get(name) for name in _INNER) if depth < _DEPTH else ()
    return next((found for each in inner if (found := reported_status(each, depth + 1)) is not None), None)


def is_filter(error: Any) -> bool:
    """Whether an error says that a filter refused, so that the same request is refused again."""
    if not isinstance(error, dict):
        return False
    inner = error.get("error")
    words = (error.get(name) for name in ("code", "type"))
    named = any(isinstance(word, str) and ending_of(word) == "filtered" for word in words)
    return named or (isinstance(inner, dict) and is_filter(inner))


def error_event(data: bytes) -> bytes:
    """Return an event that the stream itself names an error, as JSON with ``error``, which every reader knows."""
    try:
        event = parse_json(data)
    except ValueError:
        return compact_json({"error": data.decode("utf-8", "replace").strip()}).encode()
    if isinstance(event, dict) and not _is_empty(event.get("error")):
        return data
    if isinstance(event, dict | str) and event:
        return compact_json({"error": event}).encode()
    return compact_json({"error": f"The server sent {data.decode('utf-8', 'replace')} in place of an answer"}).encode()


def _has_failed(event: dict[str, Any]) -> bool:
    """Whether an event that is none of the API's own says that something went wrong."""
    if event.get("success") is False or str(event.get("status")).lower() in _FAILED:
        return True
    words = next((event[name] for name in _WORDS if not _is_empty(event.get(name))), None)
    return words is not None and not (isinstance(words, str) and words.strip().lower() in _FINE)


def _says_all(error: Any, event: dict[str, Any]) -> bool:
    """Whether the value of ``error`` is all that an event says; else its text stands beside it."""
    if isinstance(error, dict | list):
        return True
    return isinstance(error, str) and not any(isinstance(event.get(name), str) for name in _WORDS)


def _is_empty(value: Any) -> bool:
    return not value or (isinstance(value, dict) and not any(value.values()))

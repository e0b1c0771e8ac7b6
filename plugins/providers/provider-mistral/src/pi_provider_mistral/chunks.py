"""Parses one chunk of an answer leniently: data, usage and errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs.messages import Usage
from pi_provider_kit import HttpFailed, compact_json, parse_object, shown_bytes, token_count, with_cost
from pi_provider_mistral.request import ERROR_TEXT

if TYPE_CHECKING:
    from pi_hookspecs.models import Model

__all__ = ["failure_of", "parse_chunk", "usage_of"]


def parse_chunk(data: bytes) -> dict[str, Any]:
    """Return an event's JSON object.

    Raises:
        HttpFailed: It is not a JSON object.
    """
    return parse_object(data, lambda _why: _broken(data))


def failure_of(chunk: dict[str, Any]) -> HttpFailed | None:
    """Return the failure that a chunk reports, in the format of an HTTP error; None if it reports none."""
    if chunk.get("object") != "error" and not chunk.get("error"):
        return None
    error = chunk.get("error") or chunk
    body = error if isinstance(error, str) else compact_json(error)
    known = error if isinstance(error, dict) else {}
    status = next((known[name] for name in ("raw_status_code", "code") if _is_status(known.get(name))), None)
    text = ERROR_TEXT.format(status=status, body=body) if status else body
    return HttpFailed(text, kind="event", status=status)


def usage_of(usage: dict[str, Any], model: Model) -> Usage:
    """Return the tokens of a chunk's ``usage``, with their cost; ``prompt_tokens`` includes cached tokens."""
    details = usage.get("prompt_tokens_details") or usage.get("prompt_token_details")
    details = details if isinstance(details, dict) else {}
    prompt = token_count(usage.get("prompt_tokens"))
    read = min(prompt, token_count(details.get("cached_tokens")) or token_count(usage.get("num_cached_tokens")))
    return with_cost(
        model, Usage(input=prompt - read, output=token_count(usage.get("completion_tokens")), cache_read=read)
    )


def _is_status(value: Any) -> bool:
    return isinstance(value, int) and 400 <= value < 600  # noqa: PLR2004 - RFC 9110, 15.5 and 15.6


def _broken(data: bytes) -> HttpFailed:
    return HttpFailed(f"Mistral sent an event that is not a JSON object: {shown_bytes(data)}", kind="event")

"""Parses one chunk of an answer leniently: data, usage and errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs.messages import Usage
from pi_provider_kit import (
    HttpFailed,
    billed_dollars,
    compact_json,
    is_filter,
    parse_object,
    reported_error,
    reported_status,
    shown_bytes,
    token_count,
    with_cost,
)
from pi_provider_mistral.request import ERROR_TEXT

if TYPE_CHECKING:
    from pi_hookspecs.models import Model

__all__ = ["failure_of", "parse_chunk", "usage_of"]


_OWN = ("choices", "usage", "id")
"""Keys of the API's events, whatever else is beside them."""


def parse_chunk(data: bytes) -> dict[str, Any]:
    """Return an event's JSON object.

    Raises:
        HttpFailed: It is not a JSON object.
    """
    return parse_object(data, lambda _why: _broken(data))


def failure_of(chunk: dict[str, Any]) -> HttpFailed | None:
    """Return the failure that a chunk reports, in the format of an HTTP error; None if it reports none."""
    error = reported_error(chunk, _OWN)
    if error is None:
        return None
    body = error if isinstance(error, str) else compact_json(error)
    status = reported_status(error)
    text = ERROR_TEXT.format(status=status, body=body) if status else body
    return HttpFailed(text, kind="filtered" if is_filter(error) else "event", status=status)


def usage_of(usage: dict[str, Any], model: Model) -> Usage:
    """Return the tokens of a chunk's ``usage``, with their cost; ``prompt_tokens`` includes cached tokens."""
    details = usage.get("prompt_tokens_details") or usage.get("prompt_token_details")
    details = details if isinstance(details, dict) else {}
    prompt = token_count(usage.get("prompt_tokens"))
    read = min(prompt, token_count(details.get("cached_tokens")) or token_count(usage.get("num_cached_tokens")))
    return with_cost(
        model,
        Usage(input=prompt - read, output=token_count(usage.get("completion_tokens")), cache_read=read),
        billed_dollars(usage),
    )


def _broken(data: bytes) -> HttpFailed:
    return HttpFailed(f"Mistral sent an event that is not a JSON object: {shown_bytes(data)}", kind="event")

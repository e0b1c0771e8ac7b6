"""What stands in one chunk of an answer, as data: parsed as leniently as is safe, tokens counted, errors recognised."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pi_hookspecs.messages import Usage
from pi_provider_kit import HttpFailed, with_cost
from pi_provider_mistral._request import ERROR_TEXT

if TYPE_CHECKING:
    from pi_hookspecs.models import Model

__all__ = ["dicts", "failure_of", "parse_chunk", "usage_of"]

_SHOWN = 200
"""Characters of a broken event that its error shows."""


def parse_chunk(data: bytes) -> dict[str, Any]:
    """Return an event's JSON object.

    Raises:
        HttpFailed: It is none.
    """
    import orjson

    try:
        chunk = orjson.loads(data)
    except ValueError:
        chunk = _lenient(data)
    if not isinstance(chunk, dict):
        raise _broken(data)
    return chunk


def failure_of(chunk: dict[str, Any]) -> HttpFailed | None:
    """Return what a chunk tells of that is an error, worded as one that came instead of the answer."""
    if chunk.get("object") != "error" and not chunk.get("error"):
        return None
    error = chunk.get("error") or chunk
    body = error if isinstance(error, str) else json.dumps(error, ensure_ascii=False, separators=(",", ":"))
    known = error if isinstance(error, dict) else {}
    status = next((known[name] for name in ("raw_status_code", "code") if _is_status(known.get(name))), None)
    text = ERROR_TEXT.format(status=status, body=body) if status else body
    return HttpFailed(text, kind="event", status=status)


def usage_of(usage: dict[str, Any], model: Model) -> Usage:
    """Return the tokens of a chunk's ``usage``, with their cost; ``prompt_tokens`` includes those of the cache."""
    details = usage.get("prompt_tokens_details") or usage.get("prompt_token_details")
    details = details if isinstance(details, dict) else {}
    prompt = _tokens(usage.get("prompt_tokens"))
    read = min(prompt, _tokens(details.get("cached_tokens")) or _tokens(usage.get("num_cached_tokens")))
    return with_cost(model, Usage(input=prompt - read, output=_tokens(usage.get("completion_tokens")), cache_read=read))


def dicts(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list; whatever else a server sends there is left out."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _is_status(value: Any) -> bool:
    return isinstance(value, int) and 400 <= value < 600  # noqa: PLR2004 - RFC 9110, 15.5 and 15.6


def _tokens(value: Any) -> int:
    return max(0, value) if isinstance(value, int) and not isinstance(value, bool) else 0


def _lenient(data: bytes) -> Any:
    """Parse what only the standard library's parser takes, such as an escaped half of a surrogate pair."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _broken(data) from error


def _broken(data: bytes) -> HttpFailed:
    shown = data[:_SHOWN].decode("utf-8", "replace")
    return HttpFailed(f"Mistral sent an event that is not a JSON object: {shown!r}", kind="event")

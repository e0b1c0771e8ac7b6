"""Ids of tool calls that each API accepts: functions from any id to a valid one.

``transform_messages`` takes one of them and keeps the results unique.
"""

from __future__ import annotations

import re

__all__ = ["completions_id", "mistral_id", "responses_id", "sanitized_id"]

_FOREIGN = r"[^a-zA-Z0-9_-]"

_HASH = 8

_MISTRAL = 9
_ALPHANUMERIC = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def sanitized_id(call_id: str, limit: int = 64) -> str:
    """Return the id with ``_`` for all but letters, digits, ``_`` and ``-``, cut to ``limit`` (Anthropic, Bedrock)."""
    return re.sub(_FOREIGN, "_", call_id)[:limit] or "_"


def completions_id(call_id: str, provider: str = "openai") -> str:
    """Return an id for Completions, of at most 40 characters; for a Responses id, the part of the call.

    Only OpenAI itself rejects a long id that is not from Responses. A cut id ends in ``_`` and a hash of the whole, so
    that long ids with a common prefix stay distinct.
    """
    limit = 40
    part, is_responses, _ = call_id.partition("|")
    if is_responses:
        return _shortened(re.sub(_FOREIGN, "_", part) or "_", limit)
    return _shortened(call_id, limit) if provider == "openai" else call_id


def responses_id(call_id: str) -> str:
    """Return an id for Responses: ``call|item`` with 64 clean characters each, the item beginning with ``fc``.

    An id of one part stays one part.
    """
    call, has_item, item = call_id.partition("|")
    call = sanitized_id(call).rstrip("_") or "call"
    if not has_item:
        return call
    item = re.sub(_FOREIGN, "_", item)
    if not item.startswith("fc"):
        item = f"fc_{item}"
    return f"{call}|{item[:64].rstrip('_')}"


def mistral_id(call_id: str) -> str:
    """Return exactly nine letters and digits: the id itself where it has that form, else a hash of it."""
    if len(call_id) == _MISTRAL and call_id.isascii() and call_id.isalnum():
        return call_id
    number = int.from_bytes(_digest(call_id))
    digits = []
    for _ in range(_MISTRAL):
        number, digit = divmod(number, len(_ALPHANUMERIC))
        digits.append(_ALPHANUMERIC[digit])
    return "".join(digits)


def _shortened(call_id: str, limit: int) -> str:
    if len(call_id) <= limit:
        return call_id
    digest = _digest(call_id).hex()[:_HASH]
    return f"{call_id[: limit - _HASH - 1]}_{digest}"


def _digest(call_id: str) -> bytes:
    from hashlib import sha256  # imports OpenSSL's, and few ids are too long

    return sha256(call_id.encode("utf-8", "replace")).digest()

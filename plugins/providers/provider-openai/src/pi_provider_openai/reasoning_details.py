"""``reasoning_details``: the format of OpenRouter and similar hosts for reasoning that must be sent back unchanged."""

from __future__ import annotations

from typing import Any

__all__ = ["add_detail"]

_GROWS = {"reasoning.text": "text", "reasoning.summary": "summary"}
"""Streamed kinds, and the field of their text."""

_KINDS = (*_GROWS, "reasoning.encrypted")


def add_detail(details: list[dict[str, Any]], piece: dict[str, Any]) -> bool:
    """Add a piece; one of the same kind as the last continues its text.

    Returns:
        Whether it was of a known kind; others are left out, because no host accepts them back.
    """
    kind = piece.get("type")
    if kind not in _KINDS:
        return False
    last = details[-1] if details else None
    name = _GROWS.get(kind)
    if name is None or last is None or last["type"] != kind or last.get("index") != piece.get("index"):
        details.append(dict(piece))
        return True
    last[name] = f"{last.get(name) or ''}{piece.get(name) or ''}"
    for key, value in piece.items():
        if last.get(key) is None:
            last[key] = value
    return True

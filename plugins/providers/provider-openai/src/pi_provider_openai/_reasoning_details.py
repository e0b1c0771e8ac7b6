"""``reasoning_details``: how OpenRouter and its like stream reasoning that has to be sent back as it was."""

from __future__ import annotations

from typing import Any

__all__ = ["add_detail"]

_GROWS = {"reasoning.text": "text", "reasoning.summary": "summary"}
"""Kinds that come in pieces, and where their text is."""

_KINDS = (*_GROWS, "reasoning.encrypted")


def add_detail(details: list[dict[str, Any]], piece: dict[str, Any]) -> bool:
    """Add a piece to what has come; a piece of the text that came last continues it.

    Returns:
        Whether it was of a known kind; others are left out, as no host would take them back.
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

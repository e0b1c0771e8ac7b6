"""Converts an answer that is not streamed: one response, or a list from a host that ignores ``alt=sse``."""

from __future__ import annotations

from typing import Any

from pi_provider_kit import dicts

__all__ = ["whole_events"]


def whole_events(answer: Any) -> list[dict[str, Any]]:
    """Return the chunks of an answer; none for other data."""
    chunks = dicts(answer if isinstance(answer, list) else [answer])
    return chunks if any(_is_response(chunk) for chunk in chunks) else []


def _is_response(chunk: dict[str, Any]) -> bool:
    inner = chunk.get("response")  # Cloud Code Assist wraps every chunk
    known = inner if isinstance(inner, dict) else chunk
    return "candidates" in known or "promptFeedback" in known

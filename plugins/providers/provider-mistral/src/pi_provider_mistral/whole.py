"""Converts an answer of a host that does not stream, as the chunk of a stream."""

from __future__ import annotations

from typing import Any

from pi_provider_kit import dicts

__all__ = ["whole_events"]


def whole_events(answer: Any) -> list[dict[str, Any]]:
    """Return one chunk with all of a completion; none for other data."""
    if not isinstance(answer, dict):
        return []
    choices = [choice for choice in dicts(answer.get("choices")) if isinstance(choice.get("message"), dict)]
    if not choices:
        return []
    return [{**answer, "choices": [{**choice, "delta": choice["message"]} for choice in choices]}]

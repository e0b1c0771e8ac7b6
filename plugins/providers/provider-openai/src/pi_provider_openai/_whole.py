"""An answer that came whole, because a host did not stream it, as the events of a stream."""

from __future__ import annotations

from typing import Any

from pi_provider_kit import dicts

__all__ = ["whole_completion", "whole_response"]

_ENDED = ("completed", "incomplete", "failed", "cancelled")


def whole_completion(answer: Any) -> list[dict[str, Any]]:
    """Return the chunk that says all of a completion; none for other data."""
    if not isinstance(answer, dict) or not any("message" in choice for choice in dicts(answer.get("choices"))):
        return []
    return [answer]  # the codec reads a message as it reads a delta


def whole_response(answer: Any) -> list[dict[str, Any]]:
    """Return the event that ends a response, which has all of it; none for what is not one, or has not ended."""
    if not isinstance(answer, dict) or answer.get("status") not in _ENDED or "output" not in answer:
        return []
    return [{"type": "response.completed", "response": answer}]  # the status inside says how it ended

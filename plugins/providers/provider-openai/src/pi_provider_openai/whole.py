"""Converts an answer of a host that does not stream, as the events of a stream."""

from __future__ import annotations

from typing import Any

from pi_provider_kit import dicts

__all__ = ["whole_completion", "whole_response"]

_ENDED = ("completed", "incomplete", "failed", "cancelled")


def whole_completion(answer: Any) -> list[dict[str, Any]]:
    """Return one chunk with all of a completion; none for other data."""
    if not isinstance(answer, dict) or not any("message" in choice for choice in dicts(answer.get("choices"))):
        return []
    return [answer]  # the codec treats a message like a delta


def whole_response(answer: Any) -> list[dict[str, Any]]:
    """Return the final event of a response, which has all of it; none for other data, or an unfinished one."""
    if not isinstance(answer, dict) or answer.get("status") not in _ENDED or "output" not in answer:
        return []
    return [{"type": "response.completed", "response": answer}]  # its status is how it ended

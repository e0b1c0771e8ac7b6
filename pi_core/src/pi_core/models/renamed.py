"""Providers that the original pi calls by another name: its files name them so, and users who come from it do."""

from __future__ import annotations

__all__ = ["RENAMED", "other_name"]

RENAMED = {"azure": "azure-openai-responses"}
"""Ours by the original's name (since its 1.0.3)."""


def other_name(provider_id: str) -> str | None:
    """Return the original's name of one of our providers; None if it has none."""
    return next((theirs for theirs, ours in RENAMED.items() if ours == provider_id), None)

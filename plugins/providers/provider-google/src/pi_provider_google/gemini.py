"""The Gemini API's address and resource paths."""

from __future__ import annotations

from urllib.parse import quote

__all__ = ["BASE_URL", "model_path"]

BASE_URL = "https://generativelanguage.googleapis.com/v1beta"


def model_path(model_id: str) -> str:
    """Return the resource of a model; an id may be one already (``tunedModels/mine``)."""
    named = model_id if model_id.startswith(("models/", "tunedModels/")) else f"models/{model_id}"
    return quote(named, safe="/:@")

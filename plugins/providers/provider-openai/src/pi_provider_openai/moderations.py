"""OpenAI's moderations API: a classifier with labels of its own, such as ``violence`` and ``self-harm``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pi_provider_kit import HttpFailed, HttpRequest, dicts, user_content

if TYPE_CHECKING:
    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions
    from pi_provider_kit import AnswerBuilder

__all__ = ["add_scores", "moderations_request"]


def moderations_request(model: Model, context: Context, options: StreamOptions) -> HttpRequest:
    """Return a request to ``/moderations`` for the text of the last message."""
    headers = dict(model.headers or {})
    if options.api_key:
        headers["authorization"] = f"Bearer {options.api_key}"
    payload = {"model": model.id, "input": user_content(context.messages)[0]}
    return HttpRequest(url=f"{model.base_url.rstrip('/')}/moderations", body=payload, headers=headers)


def add_scores(builder: AnswerBuilder, answer: Any) -> None:
    """Add the scores by label, as JSON.

    Raises:
        HttpFailed: The answer has none.
    """
    results = dicts(answer.get("results")) if isinstance(answer, dict) else []
    scores = results[0].get("category_scores") if results else None
    if not isinstance(scores, dict):
        raise HttpFailed("The answer of the moderations API has no scores", kind="event")
    at = builder.text_start().content_index
    builder.text(at, json.dumps(scores))
    builder.text_end(at)

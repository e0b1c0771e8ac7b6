"""OpenAI's moderations API: a classifier with labels of its own, such as ``violence`` and ``self-harm``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pi_provider_kit import HttpFailed, add_text, dicts, user_content
from pi_provider_openai.shared import request_for

if TYPE_CHECKING:
    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions
    from pi_provider_kit import AnswerBuilder, HttpRequest

__all__ = ["add_scores", "moderations_request"]


def moderations_request(model: Model, context: Context, options: StreamOptions) -> HttpRequest:
    """Return a request to ``/moderations`` for the text of the last message."""
    payload = {"model": model.id, "input": user_content(context.messages)[0]}
    return request_for(model, options, "/moderations", payload)


def add_scores(builder: AnswerBuilder, answer: Any) -> None:
    """Add the scores by label, as JSON.

    Raises:
        HttpFailed: The answer has none.
    """
    results = dicts(answer.get("results")) if isinstance(answer, dict) else []
    scores = results[0].get("category_scores") if results else None
    if not isinstance(scores, dict):
        raise HttpFailed("The answer of the moderations API has no scores", kind="event")
    add_text(builder, json.dumps(scores))

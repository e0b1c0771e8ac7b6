"""Images of Gemini models: one request to ``generateContent`` that asks for the modality ``IMAGE``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_provider_google.gemini import BASE_URL, model_path
from pi_provider_google.reading import failure_of, usage_of
from pi_provider_kit import HttpFailed, HttpRequest, add_text, dicts, user_content

if TYPE_CHECKING:
    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions
    from pi_provider_kit import AnswerBuilder

__all__ = ["add_images", "images_request"]


def images_request(model: Model, context: Context, options: StreamOptions) -> HttpRequest:
    """Return the request: the prompt, the images to start from, and the shape of the image."""
    prompt, images = user_content(context.messages)
    parts: list[dict[str, Any]] = [{"text": prompt}]
    parts += [{"inlineData": {"mimeType": each.mime_type, "data": each.data}} for each in images]
    wanted = options.image_options or {}
    shape = {"aspectRatio": wanted.get("aspect_ratio"), "imageSize": wanted.get("size")}
    shape = {name: value for name, value in shape.items() if value is not None}
    config = {"responseModalities": ["TEXT", "IMAGE"], **({"imageConfig": shape} if shape else {})}
    headers = {**(model.headers or {}), **({"x-goog-api-key": options.api_key} if options.api_key else {})}
    return HttpRequest(
        url=f"{(model.base_url or BASE_URL).rstrip('/')}/{model_path(model.id)}:generateContent",
        body={"contents": [{"role": "user", "parts": parts}], "generationConfig": config},
        headers=headers,
        error_text="{body}",
    )


def add_images(builder: AnswerBuilder, answer: Any) -> None:
    """Add the images, the text and the usage of an answer.

    Raises:
        HttpFailed: The answer is an error, or the prompt was refused.
    """
    if not isinstance(answer, dict):
        raise HttpFailed("The answer of the Gemini API is not an object", kind="event")
    if (failure := failure_of(answer)) is not None:
        raise failure
    if isinstance(answer.get("usageMetadata"), dict):
        builder.usage = usage_of(builder.model, answer["usageMetadata"])
    feedback = answer.get("promptFeedback")
    if isinstance(feedback, dict) and feedback.get("blockReason"):
        raise HttpFailed(f"The prompt was refused: {feedback['blockReason']}", kind="event")
    for candidate in dicts(answer.get("candidates")):
        content = candidate.get("content")
        for part in dicts(content.get("parts")) if isinstance(content, dict) else ():
            _add_part(builder, part)
        if isinstance(candidate.get("finishReason"), str):
            builder.extras["raw_stop_reason"] = candidate["finishReason"]


def _add_part(builder: AnswerBuilder, part: dict[str, Any]) -> None:
    image = part.get("inlineData")
    if part.get("thought") is True:
        return
    if isinstance(image, dict) and isinstance(image.get("data"), str):
        builder.image(image["data"], str(image.get("mimeType") or "image/png"))
    elif isinstance(part.get("text"), str) and part["text"]:
        add_text(builder, part["text"])

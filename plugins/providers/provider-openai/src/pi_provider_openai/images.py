"""The images APIs of OpenAI and OpenRouter, whose answers have one form: base64 data, or an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs.messages import Usage
from pi_provider_kit import HttpFailed, add_text, data_url, dicts, token_count, user_content, with_cost
from pi_provider_openai.shared import request_for

if TYPE_CHECKING:
    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions
    from pi_provider_kit import AnswerBuilder, HttpRequest

__all__ = ["add_images", "openai_images_request", "openrouter_images_request"]

_OPTIONS = {"size": "size", "quality": "quality", "background": "background", "format": "output_format"}
"""Options of images by their names in the APIs."""

_MOST_IMAGES = 10


def openai_images_request(model: Model, context: Context, options: StreamOptions) -> HttpRequest:
    """Return a request to ``/images/generations``.

    Raises:
        HttpFailed: It contains images; those are accepted by another API, which takes files.
    """
    prompt, images = user_content(context.messages)
    if images:
        raise HttpFailed("OpenAI's images API generates images from text only", kind="request")
    payload = {"model": model.id, "prompt": prompt, **_options(options)}
    if not model.id.startswith(("gpt-image", "chatgpt-image")):
        payload["response_format"] = "b64_json"  # the default of the others is an address
    return request_for(model, options, "/images/generations", payload)


def openrouter_images_request(model: Model, context: Context, options: StreamOptions) -> HttpRequest:
    """Return a request to ``/images``, with the images to start from."""
    prompt, images = user_content(context.messages)
    payload = {"model": model.id, "prompt": prompt, **_options(options)}
    if ratio := (options.image_options or {}).get("aspect_ratio"):
        payload["aspect_ratio"] = ratio
    if images:
        references = [{"type": "image_url", "image_url": {"url": data_url(each)}} for each in images]
        payload["input_references"] = references
    return request_for(model, options, "/images", payload)


def add_images(builder: AnswerBuilder, answer: Any) -> None:
    """Add the images and the usage of an answer.

    Raises:
        HttpFailed: The answer is an error, or has addresses in place of images.
    """
    if not isinstance(answer, dict):
        raise HttpFailed("The answer of the images API is not an object", kind="event")
    if answer.get("error"):
        error = answer["error"]
        raise HttpFailed(str(error.get("message") or error) if isinstance(error, dict) else str(error), kind="event")
    found = dicts(answer.get("data"))
    kind = answer.get("output_format")
    for each in found:
        if isinstance(each.get("revised_prompt"), str) and each["revised_prompt"]:
            add_text(builder, each["revised_prompt"])
        if isinstance(each.get("b64_json"), str):
            builder.image(each["b64_json"], f"image/{kind if isinstance(kind, str) else 'png'}")
        elif each.get("url"):
            raise HttpFailed(
                "The answer contains the URL of an image instead of the image, and pi fetches no URLs", kind="event"
            )
    builder.usage = _usage(builder.model, answer.get("usage"), len(found))


def _options(options: StreamOptions) -> dict[str, Any]:
    wanted = options.image_options or {}
    named = {name: wanted[key] for key, name in _OPTIONS.items() if wanted.get(key) is not None}
    count = token_count(wanted.get("count"))
    return {**named, **({"n": min(count, _MOST_IMAGES)} if count > 1 else {})}


def _usage(model: Model, reported: Any, images: int) -> Usage:
    if not isinstance(reported, dict):
        return with_cost(model, Usage(), images=images)
    usage = Usage(
        input=token_count(reported.get("input_tokens") or reported.get("prompt_tokens")),
        output=token_count(reported.get("output_tokens") or reported.get("completion_tokens")),
        total_tokens=token_count(reported.get("total_tokens")),
    )
    billed = reported.get("cost")
    price = float(billed) if isinstance(billed, int | float) and not isinstance(billed, bool) else None
    return with_cost(model, usage, price, images=images)

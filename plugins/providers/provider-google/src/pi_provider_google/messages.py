"""Our conversation as the API's ``contents``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pi_hookspecs.content import ImageContent, TextContent, ThinkingContent, ToolCall
from pi_hookspecs.messages import AssistantMessage, ToolResultMessage, UserMessage
from pi_provider_google.families import knows_images_in_results, needs_call_ids, needs_signatures
from pi_provider_kit import encode_messages, sanitized_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pi_hookspecs.messages import Message
    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions
    from pi_provider_kit import SentTools

__all__ = ["to_contents"]

_IMAGE_ALONE = "(see attached image)"
_IMAGES_FOLLOW = "Tool result image:"

_SIGNATURE = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
"""Signatures are base64 of either alphabet; anything else is not from this API, which would reject it."""

_UNSIGNED = "skip_thought_signature_validator"
"""The API's placeholder for the signature of a call by another model."""


def to_contents(context: Context, model: Model, options: StreamOptions, tools: SentTools) -> list[dict[str, Any]]:
    """Return the turns; neighbours of one role are one turn, but function responses keep a turn of their own."""

    def extend(contents: list[dict[str, Any]], messages: Iterable[Message], _number: int) -> None:
        _extend(contents, messages, model)

    normalize = sanitized_id if needs_call_ids(model.id) else None
    return encode_messages(context, model, options, extend, normalize_id=normalize, tools=tools)


def _extend(contents: list[dict[str, Any]], messages: Iterable[Message], model: Model) -> None:
    kept = len(contents)
    results: list[ToolResultMessage] = []
    for message in messages:
        if isinstance(message, ToolResultMessage):
            results.append(message)
            continue
        _add_results(contents, results, model)
        results = []
        if isinstance(message, UserMessage):
            _add(contents, "user", list(_user_parts(message)), kept)
        elif isinstance(message, AssistantMessage):
            _add(contents, "model", _answer_parts(message, model), kept)
    _add_results(contents, results, model)


def _add(contents: list[dict[str, Any]], role: str, parts: list[dict[str, Any]], kept: int) -> None:
    if not parts:
        return
    last = contents[-1] if contents else None
    if last is not None and last["role"] == role and "functionResponse" not in last["parts"][-1]:
        if len(contents) <= kept:  # what was sent of an earlier message is kept, so it is not changed in place
            last = contents[-1] = {**last, "parts": [*last["parts"]]}
        last["parts"] += parts
    else:
        contents.append({"role": role, "parts": parts})


def _user_parts(message: UserMessage) -> Iterator[dict[str, Any]]:
    if isinstance(message.content, str):
        yield {"text": message.content}
        return
    for block in message.content:
        if isinstance(block, TextContent):
            yield {"text": block.text}
        elif isinstance(block, ImageContent):
            yield _image(block)


def _image(block: ImageContent) -> dict[str, Any]:
    return {"inlineData": {"mimeType": block.mime_type, "data": block.data}}


# Answers


def _answer_parts(message: AssistantMessage, model: Model) -> list[dict[str, Any]]:
    parts = [part for block in message.content for part in _answer_part(block, model)]
    if needs_signatures(model.id):
        first = next((part for part in parts if "functionCall" in part), None)
        if first is not None:  # of parallel calls only the first one is signed
            first.setdefault("thoughtSignature", _UNSIGNED)
    return parts


def _answer_part(block: Any, model: Model) -> Iterator[dict[str, Any]]:
    if isinstance(block, ToolCall):
        call: dict[str, Any] = {"name": block.name, "args": block.arguments}
        if needs_call_ids(model.id):
            call["id"] = block.id
        yield {"functionCall": call, **_signature(block.thought_signature)}
    elif isinstance(block, TextContent):
        signature = _signature(block.text_signature)
        if block.text.strip() or signature:  # a signature may come with an empty text, and may not be this API's
            yield {"text": block.text, **signature}
    elif isinstance(block, ThinkingContent) and block.thinking.strip():
        yield {"text": block.thinking, "thought": True, **_signature(block.thinking_signature)}


def _signature(signature: str | None) -> dict[str, str]:
    if signature and len(signature) % 4 != 1 and _SIGNATURE.fullmatch(signature):
        return {"thoughtSignature": signature}
    return {}


# Results


def _add_results(contents: list[dict[str, Any]], results: list[ToolResultMessage], model: Model) -> None:
    """Add the results of one batch of calls as one turn; for older models images follow it."""
    if not results:
        return
    within = knows_images_in_results(model.id)
    images: list[dict[str, Any]] = []
    parts = []
    for result in results:
        texts = [block.text for block in result.content if isinstance(block, TextContent)]
        attached = [_image(block) for block in result.content if isinstance(block, ImageContent)]
        output = "\n".join(texts)
        response: dict[str, Any] = {"name": result.tool_name}
        response["response"] = {"error" if result.is_error else "output": output or (_IMAGE_ALONE if attached else "")}
        if needs_call_ids(model.id):
            response["id"] = result.tool_call_id
        if attached and within:
            response["parts"] = attached
        else:
            images += attached
        parts.append({"functionResponse": response})
    contents.append({"role": "user", "parts": parts})
    if images:
        contents.append({"role": "user", "parts": [{"text": _IMAGES_FOLLOW}, *images]})

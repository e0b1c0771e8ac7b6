"""A conversation as Mistral's ``messages``: parts, thinking chunks, ids of nine characters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs.content import ImageContent, TextContent, ThinkingContent
from pi_hookspecs.messages import AssistantMessage, ToolResultMessage, UserMessage
from pi_provider_kit import compact_json, data_url, encode_messages, mistral_id, system_prompt_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pi_hookspecs.content import ToolCall
    from pi_hookspecs.messages import Message
    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions
    from pi_provider_kit import SentTools

__all__ = ["to_messages"]

_ERROR = "[tool error] "
"""Prefix of a failed call's result: the API has no field for it."""


def to_messages(model: Model, context: Context, options: StreamOptions, tools: SentTools) -> list[dict[str, Any]]:
    """Return the system prompt and the conversation in the API's format."""
    prompt = system_prompt_of(context)
    before = [{"role": "system", "content": prompt}] if prompt.strip() else []
    return encode_messages(context, model, options, _extend, before=before, normalize_id=mistral_id, tools=tools)


def _extend(sent: list[dict[str, Any]], messages: Iterable[Message], _number: int) -> None:
    for message in messages:
        if isinstance(message, UserMessage):
            content = message.content
            sent.append({"role": "user", "content": content if isinstance(content, str) else _parts(content)})
        elif isinstance(message, AssistantMessage):
            sent.extend(_answer(message))
        elif isinstance(message, ToolResultMessage):
            sent.append(_result(message))


def _parts(content: Iterable[Any]) -> list[dict[str, Any]]:
    """Return the sendable parts of the blocks, in order."""
    return [part for block in content if (part := _part(block)) is not None]


def _part(block: Any) -> dict[str, Any] | None:
    if isinstance(block, TextContent):
        return {"type": "text", "text": block.text}
    if isinstance(block, ImageContent):
        return {"type": "image_url", "image_url": data_url(block)}
    if isinstance(block, ThinkingContent):
        part: dict[str, Any] = {"type": "thinking", "thinking": [{"type": "text", "text": block.thinking}]}
        return {**part, "signature": block.thinking_signature} if block.thinking_signature else part
    return None


def _answer(message: AssistantMessage) -> Iterator[dict[str, Any]]:
    """Yield the answer as one message; nothing where it has neither content nor calls."""
    sent: dict[str, Any] = {"role": "assistant", "prefix": False}
    if content := _parts(message.content):
        sent["content"] = content
    if message.tool_calls:
        sent["tool_calls"] = [_call(call) for call in message.tool_calls]
    if content or message.tool_calls:
        yield sent


def _call(call: ToolCall) -> dict[str, Any]:
    arguments = compact_json(call.arguments)
    function = {"name": call.name, "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function, "index": 0}


def _result(message: ToolResultMessage) -> dict[str, Any]:
    """Return the result: its text, which is never empty, then its images."""
    images = _parts(block for block in message.content if isinstance(block, ImageContent))
    text = "\n".join(block.text for block in message.content if isinstance(block, TextContent))
    text = text or "(see attached image)"
    if message.is_error:
        text = f"{_ERROR}{text}"
    return {
        "role": "tool",
        "tool_call_id": message.tool_call_id,
        "name": message.tool_name,
        "content": [{"type": "text", "text": text}, *images],
    }

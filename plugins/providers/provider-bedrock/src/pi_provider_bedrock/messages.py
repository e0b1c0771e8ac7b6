"""Our conversation as the API's messages; what the API would reject is left out or converted.

The API requires alternating roles, non-blank texts, and all results of an answer's calls in the next message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs.content import ImageContent, TextContent, ThinkingContent, ToolCall
from pi_hookspecs.messages import AssistantMessage, ToolResultMessage, UserMessage
from pi_provider_kit import encode_messages, sanitized_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pi_hookspecs.messages import Message
    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions
    from pi_provider_bedrock.compat import Compat
    from pi_provider_kit import SentTools

__all__ = ["to_messages"]

_IMAGE_ALONE = "(see attached image)"

_RESULT_IMAGES = "Attached image(s) from tool result:"
"""Caption of the images of a failed call: Claude takes only text in a result that is an error."""


def to_messages(
    context: Context, model: Model, options: StreamOptions, compat: Compat, names: SentTools
) -> list[dict[str, Any]]:
    """Return the API's messages, without cache points; neighbours of one role become one message."""

    def extend(converted: list[dict[str, Any]], messages: Iterable[Message], _number: int) -> None:
        _extend(converted, messages, compat)

    return encode_messages(
        context, model, options, extend, depends_on=repr(compat), normalize_id=sanitized_id, tools=names
    )


def _extend(converted: list[dict[str, Any]], messages: Iterable[Message], compat: Compat) -> None:
    kept = len(converted)
    moved: list[dict[str, Any]] = []
    """Images of failed calls, which follow the last result of the answer."""
    for message in messages:
        if isinstance(message, ToolResultMessage):
            _add_blocks(converted, "user", [_result(message, compat, moved)], kept)
            continue
        _add_blocks(converted, "user", _captioned(moved), kept)
        if isinstance(message, UserMessage):
            _add_blocks(converted, "user", _user_content(message), kept)
        elif isinstance(message, AssistantMessage):
            blocks = [each for block in message.content for each in _answer_block(block, compat)]
            _add_blocks(converted, "assistant", blocks, kept)
    _add_blocks(converted, "user", _captioned(moved), kept)


def _add_blocks(converted: list[dict[str, Any]], role: str, blocks: list[dict[str, Any]], kept: int) -> None:
    if not blocks:
        return
    if converted and converted[-1]["role"] == role:
        if len(converted) <= kept:  # what was sent of an earlier message is kept, so it is not changed in place
            converted[-1] = {"role": role, "content": [*converted[-1]["content"]]}
        converted[-1]["content"] += blocks
    else:
        converted.append({"role": role, "content": blocks})


def _captioned(moved: list[dict[str, Any]]) -> list[dict[str, Any]]:
    blocks = [{"text": _RESULT_IMAGES}, *moved] if moved else []
    moved.clear()
    return blocks


def _user_content(message: UserMessage) -> list[dict[str, Any]]:
    if isinstance(message.content, str):
        return [{"text": message.content}]
    return [_block(block) for block in message.content if isinstance(block, TextContent | ImageContent)]


def _block(block: TextContent | ImageContent) -> dict[str, Any]:
    if isinstance(block, TextContent):
        return {"text": block.text}
    image_format = block.mime_type.partition("/")[2]
    return {"image": {"format": image_format, "source": {"bytes": block.data}}}  # in JSON, bytes are base64


def _answer_block(block: Any, compat: Compat) -> Iterator[dict[str, Any]]:
    if isinstance(block, ToolCall):
        yield {"toolUse": {"toolUseId": block.id, "name": block.name, "input": block.arguments}}
    elif isinstance(block, TextContent):
        yield {"text": block.text}
    elif isinstance(block, ThinkingContent):
        yield from _thinking(block, compat)


def _thinking(block: ThinkingContent, compat: Compat) -> Iterator[dict[str, Any]]:
    signature = block.thinking_signature or ""
    if block.redacted:
        if signature:
            yield {"reasoningContent": {"redactedContent": signature}}
    elif not compat.claude:
        if block.thinking.strip():
            yield {"reasoningContent": {"reasoningText": {"text": block.thinking}}}
    elif signature:
        yield {"reasoningContent": {"reasoningText": {"text": block.thinking, "signature": signature}}}
    elif block.thinking.strip():  # of an incomplete answer: Claude would reject it as thinking
        yield {"text": block.thinking}


def _result(message: ToolResultMessage, compat: Compat, moved: list[dict[str, Any]]) -> dict[str, Any]:
    content = [_block(block) for block in message.content if isinstance(block, TextContent | ImageContent)]
    images = [block for block in content if "image" in block]
    if len(content) == len(images) > 0:
        content.insert(0, {"text": _IMAGE_ALONE})
    if message.is_error and compat.claude:
        moved += images
        content = [block for block in content if "text" in block]
    result = {"toolUseId": message.tool_call_id, "content": content}
    return {"toolResult": {**result, "status": "error" if message.is_error else "success"}}

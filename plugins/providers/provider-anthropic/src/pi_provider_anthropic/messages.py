"""Our conversation as the API's messages; what the API would reject is left out or converted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs.content import ImageContent, TextContent, ThinkingContent, ToolCall
from pi_hookspecs.messages import AssistantMessage, ToolResultMessage, UserMessage, text_of
from pi_hookspecs.models import THINKING_LEVELS
from pi_provider_kit import claude_effort, clean_text, encode_messages, sanitized_id, transform_messages

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_hookspecs.messages import Message
    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions
    from pi_provider_anthropic.compat import Compat
    from pi_provider_anthropic.identity import ToolNames

__all__ = ["answer_messages", "effort_message", "mark_last", "to_messages"]

_IMAGE_ALONE = "(see attached image)"

_RESULT_IMAGES = "Attached image(s) from tool result:"
"""Caption of the images of a failed call: the API takes only text in a result that is an error."""


def to_messages(
    context: Context, model: Model, options: StreamOptions, compat: Compat, names: ToolNames, *, efforts: bool = False
) -> list[dict[str, Any]]:
    """Return the API's messages, without cache marks; results of one batch of calls share a message.

    Args:
        context: The conversation.
        model: The model.
        options: The options of the request.
        compat: Features of the host.
        names: The tools.
        efforts: Whether each answer of this provider is preceded by its effort.
    """

    def extend(converted: list[dict[str, Any]], messages: Iterable[Message], _number: int) -> None:
        _extend(converted, messages, compat, model if efforts else None)

    depends_on = f"{compat!r} {efforts}"
    return encode_messages(
        context, model, options, extend, depends_on=depends_on, normalize_id=sanitized_id, tools=names
    )


def effort_message(effort: str) -> dict[str, Any]:
    """Return the message that tells the effort of the answer after it."""
    return {"role": "system", "content": [], "output_config": {"effort": effort}}


def answer_messages(answer: AssistantMessage, model: Model, compat: Compat, names: ToolNames) -> list[dict[str, Any]]:
    """Return one answer as ``to_messages`` does within a conversation."""
    converted: list[dict[str, Any]] = []
    _extend(converted, transform_messages([answer], model, sanitized_id, tools=names, whole=False), compat)
    return converted


def _extend(
    converted: list[dict[str, Any]], messages: Iterable[Message], compat: Compat, told: Model | None = None
) -> None:
    results: list[ToolResultMessage] = []
    for message in messages:
        if isinstance(message, ToolResultMessage):
            results.append(message)
            continue
        if results:
            converted.append(_results(results))
            results = []
        if isinstance(message, UserMessage):
            converted.append({"role": "user", "content": _user_content(message)})
        elif isinstance(message, AssistantMessage):
            blocks = [converted for block in message.content for converted in _answer_block(block, compat)]
            if blocks:
                if told is not None and (effort := _effort_of(message, told)) is not None:
                    converted.append(effort_message(effort))
                converted.append({"role": "assistant", "content": blocks})
        elif compat.system_messages and (text := clean_text(text_of(message.content)).strip()):
            converted.append({"role": "system", "content": text})
    if results:
        converted.append(_results(results))


def _effort_of(answer: AssistantMessage, model: Model) -> str | None:
    """Return the effort with which an answer was requested, if this API of this provider gave it."""
    if (answer.api, answer.provider) != (model.api, model.provider) or answer.thinking_level not in THINKING_LEVELS:
        return None
    return claude_effort(model, answer.thinking_level)


def mark_last(messages: list[dict[str, Any]], mark: dict[str, str]) -> None:
    """Put the cache mark on the last block of the last user message; a string becomes a block for it.

    A change of tools after that message has the mark instead.
    """
    is_change = bool(messages) and messages[-1]["role"] == "system" and isinstance(messages[-1]["content"], list)
    roles = ("user", "system") if is_change else ("user",)
    last = next((number for number in reversed(range(len(messages))) if messages[number]["role"] in roles), None)
    if last is None:
        return
    content = messages[last]["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    blocks = [*blocks[:-1], {**blocks[-1], "cache_control": mark}]
    messages[last] = {**messages[last], "content": blocks}  # a copy: what is sent of a message is kept


def _user_content(message: UserMessage) -> str | list[dict[str, Any]]:
    if isinstance(message.content, str):
        return message.content
    return [_block(block) for block in message.content if isinstance(block, TextContent | ImageContent)]


def _block(block: TextContent | ImageContent) -> dict[str, Any]:
    if isinstance(block, TextContent):
        return {"type": "text", "text": block.text}
    return {"type": "image", "source": {"type": "base64", "media_type": block.mime_type, "data": block.data}}


def _answer_block(block: Any, compat: Compat) -> Iterable[dict[str, Any]]:
    if isinstance(block, ToolCall):
        yield {"type": "tool_use", "id": block.id, "name": block.name, "input": block.arguments}
    elif isinstance(block, TextContent):
        yield {"type": "text", "text": block.text}
    elif isinstance(block, ThinkingContent):
        signature = block.thinking_signature or ""
        if block.redacted:
            if signature:
                yield {"type": "redacted_thinking", "data": signature}
        elif signature or compat.empty_signature:
            yield {"type": "thinking", "thinking": block.thinking, "signature": signature}
        elif block.thinking.strip():  # of an incomplete answer: the API would reject it as thinking
            yield {"type": "text", "text": block.thinking}


def _results(results: list[ToolResultMessage]) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    moved: list[dict[str, Any]] = []
    for result in results:
        blocks = [_block(block) for block in result.content if isinstance(block, TextContent | ImageContent)]
        images = [block for block in blocks if block["type"] == "image"]
        texts = [block["text"] for block in blocks if block["type"] == "text"]
        output: str | list[dict[str, Any]] = "\n".join(texts)
        if images and result.is_error:
            moved += images
            output = output or _IMAGE_ALONE
        elif images:
            output = blocks if texts else [_text(_IMAGE_ALONE), *images]
        content.append(
            {"type": "tool_result", "tool_use_id": result.tool_call_id, "content": output, "is_error": result.is_error}
        )
    if moved:
        content += [_text(_RESULT_IMAGES), *moved]
    return {"role": "user", "content": content}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}

"""A conversation as the ``messages`` of Chat Completions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pi_hookspecs.content import ImageContent, TextContent, ThinkingContent
from pi_hookspecs.messages import AssistantMessage, ToolResultMessage, UserMessage, text_of
from pi_provider_kit import clean_text, compact_json, completions_id, data_url, encode_messages, system_prompt_of
from pi_provider_openai.shared import result_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pi_hookspecs.messages import Message
    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions
    from pi_provider_kit import SentTools

__all__ = ["REASONING_FIELDS", "mark_for_cache", "to_messages"]

REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text")
"""Fields of reasoning; a thinking block's signature is the name of the field that it was received in."""

_BRIDGE = {"role": "assistant", "content": "I have processed the tool results."}

_IMAGES_FOLLOW = "Attached image(s) from tool result:"


def to_messages(
    model: Model, context: Context, options: StreamOptions, compat: Mapping[str, Any], tools: SentTools | None = None
) -> list[dict[str, Any]]:
    """Return the system prompt and the conversation in the host's format."""
    in_place = bool(compat["supportsMidConvoSystemMessages"])
    role = "developer" if model.reasoning and compat["supportsDeveloperRole"] else "system"
    prompt = clean_text(context.system_prompt) if in_place else system_prompt_of(context)
    before = [{"role": role, "content": prompt}] if prompt.strip() else []

    def extend(sent: list[dict[str, Any]], messages: Iterable[Message], _number: int) -> None:
        _extend(sent, messages, model, compat, role=role if in_place else "")

    return encode_messages(
        context,
        model,
        options,
        extend,
        before=before,
        depends_on=repr(compat),
        normalize_id=lambda call_id: completions_id(call_id, model.provider),
        tools=tools,
    )


def _extend(
    sent: list[dict[str, Any]], messages: Iterable[Message], model: Model, compat: Mapping[str, Any], *, role: str
) -> None:
    """Add messages; ``role`` is that of system messages, empty where they are sent before the conversation."""
    images: list[dict[str, Any]] = []
    for message in messages:
        if images and not isinstance(message, ToolResultMessage):
            _add_user(sent, [{"type": "text", "text": _IMAGES_FOLLOW}, *images], compat)
            images = []
        if isinstance(message, ToolResultMessage):
            sent.append(_result(message, compat))
            images += [_image(block) for block in message.content if isinstance(block, ImageContent)]
        elif isinstance(message, UserMessage):
            _add_user(sent, _parts(message.content), compat)
        elif isinstance(message, AssistantMessage):
            sent.extend(_answer(message, model, compat))
        elif role and (text := clean_text(text_of(message.content))).strip():
            sent.append({"role": role, "content": text})
    if images:
        _add_user(sent, [{"type": "text", "text": _IMAGES_FOLLOW}, *images], compat)


def _add_user(sent: list[dict[str, Any]], parts: list[dict[str, Any]], compat: Mapping[str, Any]) -> None:
    if not parts:
        return
    if compat["requiresAssistantAfterToolResult"] and sent and sent[-1]["role"] == "tool":
        sent.append(dict(_BRIDGE))
    sent.append({"role": "user", "content": parts})


def _parts(content: str | Iterable[Any]) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    parts = []
    for block in content:
        if isinstance(block, TextContent):
            parts.append({"type": "text", "text": block.text})
        elif isinstance(block, ImageContent):
            parts.append(_image(block))
    return parts


def _image(block: ImageContent) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": data_url(block)}}


def _result(message: ToolResultMessage, compat: Mapping[str, Any]) -> dict[str, Any]:
    sent = {"role": "tool", "tool_call_id": message.tool_call_id, "content": result_text(message.content)}
    if compat["requiresToolResultName"] and message.tool_name:
        sent["name"] = message.tool_name
    return sent


def _answer(message: AssistantMessage, model: Model, compat: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the answer as one message; nothing where it has neither text nor calls."""
    thoughts = [block for block in message.content if isinstance(block, ThinkingContent)]
    details = _details(message, thoughts)
    sent: dict[str, Any] = {"role": "assistant", "content": _content(message, thoughts, compat)}
    if not compat["requiresThinkingAsText"] and not details:
        sent.update(_reasoning(thoughts))
    if details:
        sent["reasoning_details"] = details
    if compat["requiresReasoningContentOnAssistantMessages"] and model.reasoning:
        sent.setdefault("reasoning_content", "")
    if message.tool_calls:
        sent["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": compact_json(call.arguments)},
                **_google(call.thought_signature),
            }
            for call in message.tool_calls
        ]
    else:
        signatures = (block.text_signature for block in message.content if isinstance(block, TextContent))
        sent.update(_google(next(filter(None, signatures), None)))
    if sent["content"] or message.tool_calls:
        yield sent


def _content(message: AssistantMessage, thoughts: list[ThinkingContent], compat: Mapping[str, Any]) -> Any:
    """Return a string, null if there is no text, or parts where thinking has to be text."""
    texts = [block.text for block in message.content if isinstance(block, TextContent)]
    spoken = [block.thinking for block in thoughts if block.thinking.strip()]
    if spoken and compat["requiresThinkingAsText"]:
        return [{"type": "text", "text": text} for text in ("\n\n".join(spoken), *texts)]
    if texts:
        return "".join(texts)
    no_null = compat["requiresNonNullAssistantContent"] or compat["requiresAssistantAfterToolResult"]
    return "" if no_null else None


def _reasoning(thoughts: list[ThinkingContent]) -> dict[str, str]:
    """Return the thinking under the name of the field that it once came in."""
    spoken = [block for block in thoughts if block.thinking.strip()]
    name = spoken[0].thinking_signature if spoken else None
    return {name: "\n".join(block.thinking for block in spoken)} if name in REASONING_FIELDS else {}


def _details(message: AssistantMessage, thoughts: list[ThinkingContent]) -> list[Any]:
    """Return ``reasoning_details``: all of them from a thinking block, else those that stand with the calls."""
    for block in thoughts:
        details = _json(block.thinking_signature)
        if isinstance(details, list) and details:
            return details
    found = (_json(call.thought_signature) for call in message.tool_calls)
    return [detail for detail in found if isinstance(detail, dict)]


def _google(signature: str | None) -> dict[str, Any]:
    """Return a signature as Google's compatible endpoint gave it; JSON is other hosts' reasoning."""
    if not signature or _json(signature) is not None:
        return {}
    return {"extra_content": {"google": {"thought_signature": signature}}}


def _json(signature: str | None) -> Any:
    if not signature or signature[0] not in "[{":
        return None
    try:
        return json.loads(signature)
    except ValueError:
        return None


def mark_for_cache(
    messages: list[dict[str, Any]], tools: list[dict[str, Any]], retention: str, compat: Mapping[str, Any]
) -> None:
    """Add cache marks to the system prompt, the last tool and the end of the conversation, for Anthropic's models."""
    if compat["cacheControlFormat"] != "anthropic" or retention == "none":
        return
    mark = {"type": "ephemeral"}
    if retention == "long" and compat["supportsLongCacheRetention"]:
        mark["ttl"] = "1h"
    first = next((at for at, message in enumerate(messages) if message["role"] in ("system", "developer")), None)
    if first is not None:
        messages[first] = _marked(messages[first], mark) or messages[first]
    if tools:
        tools[-1]["cache_control"] = mark
    for at in reversed(range(len(messages))):
        if messages[at]["role"] in ("user", "assistant", "tool") and (marked := _marked(messages[at], mark)):
            messages[at] = marked
            return


def _marked(message: dict[str, Any], mark: dict[str, str]) -> dict[str, Any] | None:
    """Return a copy of a message with a mark at its last text, since messages are kept; None if it has no text."""
    content = message["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) and content else content
    for at in reversed(range(len(parts))) if isinstance(parts, list) else ():
        if parts[at]["type"] == "text":
            return {**message, "content": [*parts[:at], {**parts[at], "cache_control": mark}, *parts[at + 1 :]]}
    return None

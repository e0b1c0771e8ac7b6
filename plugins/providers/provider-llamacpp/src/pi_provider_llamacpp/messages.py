"""A request as a chat completion: the conversation, the tools and how to sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs.content import ThinkingContent
from pi_hookspecs.messages import AssistantMessage, ToolResultMessage, UserMessage, text_of
from pi_provider_kit import (
    SentTools,
    clamp_thinking_level,
    compact_json,
    completions_id,
    encode_messages,
    sampling_params,
    system_prompt_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pi_hookspecs.messages import Message
    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions

__all__ = ["to_payload"]

_ERROR = "[tool error] "


def to_payload(model: Model, context: Context, options: StreamOptions) -> dict[str, Any]:
    """Return the request as plain data, with the schema of an answer's text as ``output``."""
    sent = SentTools(context.tools, model)
    payload: dict[str, Any] = {
        "model": model.id,
        "messages": _messages(model, context, options, sent),
        "stream_options": {"include_usage": True},
        "return_progress": True,
    }
    if options.max_tokens is not None:
        payload["max_tokens"] = options.max_tokens
    if context.tools:
        payload["tools"] = [_tool(tool) for tool in sent]
        if options.tool_choice is not None:
            payload["tool_choice"] = options.tool_choice
    elif options.output_schema is not None:  # with tools an answer in JSON could not be distinguished from a call
        payload["output"] = dict(options.output_schema)
    if options.temperature is not None:
        payload["temperature"] = options.temperature
    if model.reasoning:
        thinks = clamp_thinking_level(model, options.reasoning) != "off"
        payload["chat_template_kwargs"] = {"enable_thinking": thinks}
    return payload | sampling_params(model, options.reasoning)


def _tool(tool: Any) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _messages(model: Model, context: Context, options: StreamOptions, tools: SentTools) -> list[dict[str, Any]]:
    prompt = system_prompt_of(context)
    before = [{"role": "system", "content": prompt}] if prompt.strip() else []
    return encode_messages(context, model, options, _extend, before=before, normalize_id=completions_id, tools=tools)


def _extend(sent: list[dict[str, Any]], messages: Iterable[Message], _number: int) -> None:
    for message in messages:
        if isinstance(message, UserMessage):
            sent.append({"role": "user", "content": text_of(message.content)})
        elif isinstance(message, AssistantMessage):
            sent.extend(_answer(message))
        elif isinstance(message, ToolResultMessage):
            text = text_of(message.content)
            text = f"{_ERROR}{text}" if message.is_error else text
            sent.append(
                {"role": "tool", "tool_call_id": message.tool_call_id, "name": message.tool_name, "content": text}
            )


def _answer(message: AssistantMessage) -> Iterator[dict[str, Any]]:
    """Yield an answer, with its thinking apart: the template decides how much of it the model sees again."""
    sent: dict[str, Any] = {"role": "assistant", "content": text_of(message.content)}
    thoughts = [block.thinking for block in message.content if isinstance(block, ThinkingContent) and block.thinking]
    if thoughts:
        sent["reasoning_content"] = "\n".join(thoughts)
    if message.tool_calls:
        sent["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": compact_json(call.arguments)},
            }
            for call in message.tool_calls
        ]
    if len(sent) > 2 or sent["content"]:  # noqa: PLR2004 - more than role and content
        yield sent

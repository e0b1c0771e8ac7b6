"""Between pi's messages and those of Anthropic's Messages API: text and tool calls, nothing else."""

from collections.abc import Iterator
from typing import Any

from pi_hookspecs import (
    AssistantMessage,
    AssistantMessageEvent,
    Context,
    Done,
    Message,
    Model,
    StopReason,
    StreamOptions,
    TextContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from pi_provider_kit import AnswerBuilder, HttpFailed, parse_json, sanitized_id, transform_messages, with_cost

_STOPS: dict[str, StopReason] = {"max_tokens": "length", "tool_use": "toolUse"}


def to_payload(model: Model, context: Context, options: StreamOptions) -> dict[str, Any]:
    """Return the request's body. Neighbours of one role become one message, as the API wants results."""
    messages: list[dict[str, Any]] = []
    for message in transform_messages(context.messages, model, sanitized_id):
        role = "assistant" if isinstance(message, AssistantMessage) else "user"
        if not messages or messages[-1]["role"] != role:
            messages.append({"role": role, "content": []})
        messages[-1]["content"] += _blocks(message)
    tools = [{"name": each.name, "description": each.description, "input_schema": each.parameters} for each in context.tools]
    limit = options.max_tokens or model.max_tokens
    payload = {"model": model.id, "max_tokens": limit, "stream": True, "messages": messages}
    return {**payload, "system": context.system_prompt, **({"tools": tools} if tools else {})}


def _blocks(message: Message) -> list[dict[str, Any]]:
    if isinstance(message, ToolResultMessage):
        known = {"tool_use_id": message.tool_call_id, "content": message.text, "is_error": message.is_error}
        return [{"type": "tool_result", **known}]
    if isinstance(message, UserMessage):
        return [{"type": "text", "text": message.text}]
    blocks: list[dict[str, Any]] = []
    for block in message.content:
        if isinstance(block, TextContent):
            blocks.append({"type": "text", "text": block.text})
        elif isinstance(block, ToolCall):
            blocks.append({"type": "tool_use", "id": block.id, "name": block.name, "input": block.arguments})
    return blocks


class Reading:
    """Turns the API's events into pi's."""

    def __init__(self, builder: AnswerBuilder) -> None:
        self._builder = builder
        self._open: dict[int, tuple[str, int]] = {}
        self._stop = ""

    def feed(self, data: bytes) -> Iterator[AssistantMessageEvent]:
        """Yield what one event of the API means."""
        event = parse_json(data)
        known: Any = getattr(self, f"_{event.get('type')}", None)
        if known is not None:
            yield from known(event) or ()

    def end(self) -> Done:
        """End the answer; one that was cut off did not end well."""
        if not self._stop:
            raise HttpFailed("The answer ended before it was complete", kind="incomplete")
        return self._builder.done(_STOPS.get(self._stop, "stop"))

    def _error(self, event: dict[str, Any]) -> None:
        raise HttpFailed(event["error"]["message"], kind="event")

    def _message_start(self, event: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        self._count(event["message"]["usage"])
        yield self._builder.start()

    def _content_block_start(self, event: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        block, builder = event["content_block"], self._builder
        start = builder.tool_call_start(block["id"], block["name"]) if block["type"] == "tool_use" else builder.text_start()
        self._open[event["index"]] = block["type"], start.content_index
        yield start

    def _content_block_delta(self, event: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        kind, index = self._open[event["index"]]
        if kind == "tool_use":
            yield self._builder.tool_call(index, event["delta"]["partial_json"])
        else:
            yield self._builder.text(index, event["delta"]["text"])

    def _content_block_stop(self, event: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        kind, index = self._open.pop(event["index"])
        yield self._builder.tool_call_end(index) if kind == "tool_use" else self._builder.text_end(index)

    def _message_delta(self, event: dict[str, Any]) -> None:
        self._stop = event["delta"].get("stop_reason") or ""
        self._count(event.get("usage") or {})

    def _count(self, usage: dict[str, Any]) -> None:
        told = self._builder.usage
        read, written = usage.get("input_tokens", told.input), usage.get("output_tokens", told.output)
        self._builder.usage = with_cost(Usage(input=read, output=written, total_tokens=read + written), self._builder.model)

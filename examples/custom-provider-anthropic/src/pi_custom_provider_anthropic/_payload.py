"""From pi's messages to the body of a request to the Messages API: text and tool calls, nothing else."""

from typing import Any

from pi_hookspecs import (
    AssistantMessage,
    Context,
    Message,
    Model,
    StreamOptions,
    TextContent,
    ToolCall,
    ToolResultMessage,
    text_of,
)
from pi_provider_kit import sanitized_id, transform_messages


def to_payload(model: Model, context: Context, options: StreamOptions) -> dict[str, Any]:
    """Return the request's body. Neighbours of one role become one message, as the API wants results."""
    messages: list[dict[str, Any]] = []
    for message in transform_messages(context.messages, model, sanitized_id):
        role = "assistant" if isinstance(message, AssistantMessage) else "user"
        if not messages or messages[-1]["role"] != role:
            messages.append({"role": role, "content": []})
        messages[-1]["content"] += _blocks(message)
    return {
        "model": model.id,
        "max_tokens": options.max_tokens or model.max_tokens,
        "stream": True,
        "system": context.system_prompt,
        "messages": messages,
        "tools": [
            {"name": each.name, "description": each.description, "input_schema": each.parameters}
            for each in context.tools
        ],
    }


def _blocks(message: Message) -> list[dict[str, Any]]:
    if isinstance(message, ToolResultMessage):
        known = {"tool_use_id": message.tool_call_id, "content": message.text, "is_error": message.is_error}
        return [{"type": "tool_result", **known}]
    if not isinstance(message, AssistantMessage):
        return [{"type": "text", "text": text_of(message.content)}]
    blocks: list[dict[str, Any]] = []
    for block in message.content:
        if isinstance(block, TextContent):
            blocks.append({"type": "text", "text": block.text})
        elif isinstance(block, ToolCall):
            blocks.append({"type": "tool_use", "id": block.id, "name": block.name, "input": block.arguments})
    return blocks

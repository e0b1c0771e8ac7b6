"""Estimates of a request's tokens."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pi_hookspecs.content import ImageContent, TextContent, ThinkingContent, ToolCall
from pi_hookspecs.messages import AssistantMessage

if TYPE_CHECKING:
    from typing import Any

    from pi_hookspecs.messages import Message
    from pi_hookspecs.provider import Context

__all__ = ["estimate_context_tokens", "estimate_tokens"]

_CHARS_PER_TOKEN = 4

_IMAGE_CHARS = 4800


def estimate_tokens(message: Message) -> int:
    """Return the estimated tokens of a message: a quarter of its characters, an image as 4800 of them."""
    content = message.content
    size = len(content) if isinstance(content, str) else sum(map(_size, content))
    return -(-size // _CHARS_PER_TOKEN)


def estimate_context_tokens(context: Context) -> int:
    """Return the tokens of the context: as reported by the last good answer, plus an estimate of later messages.

    The usage of an answer that is older than a message before it is ignored: a compaction or an edit put that message
    there later, so the answer counted another context.
    """
    messages, later = context.messages, 0
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if isinstance(message, AssistantMessage) and message.stop_reason not in ("error", "aborted"):
            usage = message.usage
            known = usage.total_tokens or usage.input + usage.output + usage.cache_read + usage.cache_write
            if known and all(earlier.timestamp <= message.timestamp for earlier in messages[:index]):
                return known + later
        later += estimate_tokens(message)
    fixed = len(context.system_prompt)
    for tool in context.tools:
        fixed += len(tool.name) + len(tool.description) + len(json.dumps(tool.parameters, default=str))
    return later - (-fixed // _CHARS_PER_TOKEN)


def _size(block: Any) -> int:
    if isinstance(block, TextContent):
        return len(block.text)
    if isinstance(block, ThinkingContent):
        return len(block.thinking)
    if isinstance(block, ImageContent):
        return _IMAGE_CHARS
    if isinstance(block, ToolCall):
        return len(block.name) + len(json.dumps(block.arguments, default=str))
    return 0

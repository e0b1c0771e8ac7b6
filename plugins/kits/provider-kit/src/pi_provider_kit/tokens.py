"""Estimates of a request's tokens."""

from __future__ import annotations

import json
from itertools import accumulate
from operator import attrgetter
from typing import TYPE_CHECKING

from pi_hookspecs.content import ImageContent, TextContent, ThinkingContent, ToolCall
from pi_hookspecs.messages import AssistantMessage
from pi_provider_kit.json_values import LONG

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from pi_hookspecs.messages import Message
    from pi_hookspecs.provider import Context

__all__ = ["estimate_context_tokens", "estimate_tokens"]

_CHARS_PER_TOKEN = 4

_IMAGE_CHARS = 4800

_timestamp = attrgetter("timestamp")


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
    sums = _sums(messages)
    newest: list[int] = []
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if isinstance(message, AssistantMessage) and message.stop_reason not in ("error", "aborted"):
            usage = message.usage
            known = usage.total_tokens or usage.input + usage.output + usage.cache_read + usage.cache_write
            if known and not newest:  # once for all earlier answers, if this one does not count
                if max(map(_timestamp, messages[: index + 1])) <= message.timestamp:
                    return known + later
                newest = [*accumulate(map(_timestamp, messages), max)]
            elif known and newest[index] <= message.timestamp:
                return known + later
        later = sums[-1] - sums[index] if sums else later + estimate_tokens(message)
    fixed = len(context.system_prompt)
    for tool in context.tools:
        fixed += len(tool.name) + len(tool.description) + len(json.dumps(tool.parameters, default=str))
    return later - (-fixed // _CHARS_PER_TOKEN)


def _sums(messages: Sequence[Message]) -> list[int]:
    """Return the estimates of a long conversation, added up to each message; empty if nothing of it is kept."""
    if len(messages) < LONG:
        return []
    from pi_provider_kit.kept import token_sums

    return token_sums(messages, estimate_tokens)


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

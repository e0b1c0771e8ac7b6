"""Estimates the tokens of messages, requests and contexts without a tokenizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs.content import ImageContent, TextContent, ThinkingContent, ToolCall
from pi_hookspecs.messages import AssistantMessage

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_hookspecs.rare_messages import AgentMessage
    from pi_hookspecs.tools import Tool

__all__ = ["context_tokens", "estimate_request_tokens", "estimate_tokens"]

CHARS_PER_TOKEN = 4
IMAGE_CHARS = 4800
"""The number of characters for which an image counts."""


def estimate_tokens(message: AgentMessage) -> int:
    """Return the estimated tokens of a message: a quarter of its characters, rounded up."""
    return -(-_chars(message) // CHARS_PER_TOKEN)


def estimate_request_tokens(system_prompt: str, tools: Iterable[Tool], messages: Iterable[AgentMessage]) -> int:
    """Return the estimated tokens of a request: a quarter of the characters of prompt, tool declarations, messages."""
    from pi_core.agent.declarations import tool_declaration

    declared = [tool_declaration(tool) for tool in tools]
    chars = len(system_prompt) + (_json_chars(declared) if declared else 0)
    return -(-chars // CHARS_PER_TOKEN) + sum(map(estimate_tokens, messages))


def context_tokens(messages: Sequence[AgentMessage]) -> int | None:
    """Return the tokens of a context: the usage reported by the last answer, plus an estimate for later messages.

    Failed answers report no usage. Answers from before the compaction with which the context begins are ignored,
    because they report the usage of another context. Return None if no answer reports usage for this context.
    """
    compacted = bool(messages) and messages[0].role == "compactionSummary"
    since: int | None = getattr(messages[0], "timestamp", None) if compacted else None
    later = 0
    for message in reversed(messages):
        if isinstance(message, AssistantMessage):
            if since is not None and message.timestamp <= since:
                return None
            reported = _reported_tokens(message)
            if reported:
                return reported + later
        later += estimate_tokens(message)
    return None


def _reported_tokens(answer: AssistantMessage) -> int:
    if answer.stop_reason in ("error", "aborted"):
        return 0
    usage = answer.usage
    return usage.total_tokens or usage.input + usage.output + usage.cache_read + usage.cache_write


def _chars(message: AgentMessage) -> int:
    content: Any = getattr(message, "content", None)
    if content is None:  # a command of the user, or a summary
        return sum(len(getattr(message, name, "")) for name in ("command", "output", "summary"))
    return len(content) if isinstance(content, str) else _block_chars(content)


def _block_chars(blocks: Iterable[Any]) -> int:
    chars = 0
    for block in blocks:
        if isinstance(block, TextContent):
            chars += len(block.text)
        elif isinstance(block, ThinkingContent):
            chars += len(block.thinking)
        elif isinstance(block, ToolCall):
            chars += len(block.name) + _json_chars(block.arguments)
        elif isinstance(block, ImageContent):
            chars += IMAGE_CHARS
    return chars


def _json_chars(arguments: Any) -> int:
    from pi_core.wire.converter import dumps

    return len(dumps(arguments))

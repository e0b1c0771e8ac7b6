"""Estimates the tokens of messages, requests and contexts without a tokenizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pi_core.base.folds import Fold
from pi_hookspecs.content import ImageContent, TextContent, ThinkingContent, ToolCall
from pi_hookspecs.messages import AssistantMessage

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_hookspecs.rare_messages import AgentMessage
    from pi_hookspecs.tools import Tool

__all__ = ["ContextTokens", "context_tokens", "estimate_request_tokens", "estimate_tokens", "message_tokens"]

CHARS_PER_TOKEN = 4
IMAGE_CHARS = 4800
"""The number of characters for which an image counts."""
_CONVERSATIONS = 2
"""How many lengths of a conversation are remembered: that of the last request, and the one before it."""


def estimate_tokens(message: AgentMessage) -> int:
    """Return the estimated tokens of a message: a quarter of its characters, rounded up."""
    return -(-_chars(message) // CHARS_PER_TOKEN)


def message_tokens() -> Fold[AgentMessage, int]:
    """Return what estimates the tokens of the messages of one growing conversation."""
    return Fold(int, lambda tokens, message: tokens + estimate_tokens(message), most=_CONVERSATIONS)


def estimate_request_tokens(system_prompt: str, tools: Iterable[Tool], messages: int) -> int:
    """Return the estimated tokens of a request: a quarter of the characters of prompt, tool declarations, messages.

    Args:
        system_prompt: The prompt.
        tools: The tools that are declared.
        messages: The estimated tokens of the messages.
    """
    from pi_core.agent.declarations import tool_declaration

    declared = [tool_declaration(tool) for tool in tools]
    chars = len(system_prompt) + (_json_chars(declared) if declared else 0)
    return -(-chars // CHARS_PER_TOKEN) + messages


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


class ContextTokens(NamedTuple):
    """``context_tokens`` of a conversation, from which it goes on with each message.

    Attributes:
        known: What the last answer reported; None if none did.
        later: The estimate of the messages after it.
        since: When the context was compacted; None if it was not.
        is_begun: Whether there is a message.
    """

    known: int | None = None
    later: int = 0
    since: int | None = None
    is_begun: bool = False

    @property
    def tokens(self) -> int | None:
        """Tokens of the context; None if no answer reports usage for it."""
        return None if self.known is None else self.known + self.later

    def after(self, message: AgentMessage) -> ContextTokens:
        """Return the value with one more message."""
        since = self.since
        if not self.is_begun and message.role == "compactionSummary":
            since = getattr(message, "timestamp", None)
        if isinstance(message, AssistantMessage):
            if since is not None and message.timestamp <= since:
                return ContextTokens(None, 0, since, is_begun=True)
            if reported := _reported_tokens(message):
                return ContextTokens(reported, 0, since, is_begun=True)
        return ContextTokens(self.known, self.later + estimate_tokens(message), since, is_begun=True)

    @staticmethod
    def of_conversation() -> Fold[AgentMessage, ContextTokens]:
        """Return what computes it for one growing conversation."""
        return Fold(ContextTokens, ContextTokens.after, most=_CONVERSATIONS)


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

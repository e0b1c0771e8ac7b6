"""Recognizes providers' errors for a conversation that exceeds the model's context window.

There is no common error code: each API and each local server has its own message. Messages about throttling
are recognized first, because some of them also mention tokens.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_hookspecs import AssistantMessage

__all__ = ["is_context_overflow", "is_recoverable_length", "is_throttling"]

_PATTERNS = (
    r"prompt is too long|prompt too long",  # Anthropic, Z.ai
    r"input is too long for requested model",  # Bedrock
    r"exceeds the context window",  # OpenAI
    r"input token count.*exceeds the maximum",  # Google
    r"maximum prompt length is \d+",  # xAI
    r"reduce the length of the messages",  # Groq
    r"maximum context length (?:is|of) [\d,]+",  # OpenRouter and further hosts
    r"exceeds the limit of \d+",  # GitHub Copilot
    r"exceeds the available context size",  # llama.cpp
    r"greater than the context length",  # LM Studio
    r"context window exceeds limit",  # MiniMax
    r"exceeded model token limit",  # Kimi
    r"too large for model with \d+ maximum context length",  # Mistral
    r"model_context_window_exceeded",
    r"context[_ ]length[_ ]exceeded",
    r"context window exceeded",
    r"exceeded (?:the )?(?:max(?:imum)? )?context length",
    r"too many tokens",
    r"token limit exceeded",
    r"request_too_large",
    r"prompt exceeds max length",
    r"maximum allowed input length of \d+",
    r"longer than the model'?s context length",
    r"configured context size is \d+",
    r"range of input length should be",
    r"^\s*(?:\S+ API error \()?413\b",  # the latter are the words of Responses
)
_OVERFLOW = f"(?is){'|'.join(_PATTERNS)}"  # compiled on first use, like the next two; most runs have no such error
_THROTTLING = (
    r"(?i)^\s*throttling|rate.?limit|too many requests|tokens per (?:minute|day)"
    r"|(?<![\d,.])429\b(?![,.]\d)"  # the status, not part of a number of tokens
)
_NO_BODY = r"(?i)^\s*4(?:00|13)\s*(?:status code)?\s*\(no body\)"
_FULL = 0.99
"""Share of the window that the input must fill for an empty ``length`` answer to count as an overflow."""


def is_throttling(text: str) -> bool:
    """Return whether an error message is about too many requests, which is never an overflow."""
    return re.search(_THROTTLING, text) is not None


def is_context_overflow(message: AssistantMessage, context_window: int | None = None) -> bool:
    """Return whether an answer shows that the conversation does not fit the window.

    Args:
        message: The answer; it failed, or was returned although the window was exceeded.
        context_window: The model's window in tokens; when None, only error messages are checked.
    """
    if message.stop_reason == "error":
        text = message.error_message or ""
        if is_throttling(text):
            return False
        if re.search(_OVERFLOW, text):
            return True
        return message.provider == "cerebras" and re.search(_NO_BODY, text) is not None
    if context_window is None:
        return False
    input_tokens = message.usage.input + message.usage.cache_read
    if message.stop_reason == "stop":
        return input_tokens > context_window
    return message.stop_reason == "length" and not message.usage.output and input_tokens >= _FULL * context_window


def is_recoverable_length(message: AssistantMessage, max_tokens: int) -> bool:
    """Return whether an answer was cut off by the window rather than by the model's own output limit."""
    return message.stop_reason == "length" and message.usage.output < max_tokens

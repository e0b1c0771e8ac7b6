"""Recognizes answers which show that a conversation exceeds the model's context window.

Errors are classified by ``pi_hookspecs.failures``. Some providers send no error: they report more input than fits, or
an answer without any output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_hookspecs import AssistantMessage
    from pi_hookspecs.failures import FailureKind

__all__ = ["failure_kind", "is_context_overflow", "is_recoverable_length", "is_throttling"]

_FULL = 0.99
"""Share of the window that the input must fill for an empty ``length`` answer to count as an overflow."""


def is_throttling(text: str) -> bool:
    """Return whether an error message is about too many requests, which is never an overflow."""
    from pi_hookspecs.failures import kind_of_failure

    return kind_of_failure(text) == "throttle"


def failure_kind(message: AssistantMessage, *, host: str = "", hinted: bool = False) -> FailureKind:
    """Return the kind of failure of an answer that ended in an error.

    Args:
        message: The answer. The advice that providers append to the server's words does not count.
        host: Host name of the server, where it is known; some rules name hosts, all of these the provider, too.
        hinted: Whether the server said when to come back.
    """
    from pi_hookspecs.failures import kind_of_failure

    text, failure = message.error_message or "", message.extra.get("requestFailure")
    status = None
    if isinstance(failure, dict):
        text = text.partition("\n")[0]
        status = failure.get("status")
    known = status if isinstance(status, int) and not isinstance(status, bool) else None
    return kind_of_failure(text, known, (message.provider, host), hinted=hinted)


def is_context_overflow(message: AssistantMessage, context_window: int | None = None) -> bool:
    """Return whether an answer shows that the conversation does not fit the window.

    Args:
        message: The answer; it failed, or was returned although the window was exceeded.
        context_window: The model's window in tokens; when None, only error messages are checked.
    """
    if message.stop_reason == "error":
        return failure_kind(message) == "overflow"
    if context_window is None:
        return False
    input_tokens = message.usage.input + message.usage.cache_read
    if message.stop_reason == "stop":
        return input_tokens > context_window
    return message.stop_reason == "length" and not message.usage.output and input_tokens >= _FULL * context_window


def is_recoverable_length(message: AssistantMessage, max_tokens: int) -> bool:
    """Return whether an answer was cut off by the window rather than by the model's own output limit."""
    return message.stop_reason == "length" and message.usage.output < max_tokens

"""The end of a resumed conversation: its last exchange, and the number of earlier messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_cli.activity import call_line
from pi_cli.words import one_line
from pi_core import error_text
from pi_terminal_kit.words import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_cli.screen import Screen

__all__ = ["echo", "show_tail"]

_MOST_MESSAGES = 40
"""Maximum messages of the last exchange that are examined, from its end; it may contain hundreds of tool calls."""

_ECHOED = 10
"""Maximum lines of a user message."""


def show_tail(screen: Screen, messages: Sequence[Any]) -> None:
    """Show the last exchange.

    Args:
        screen: The output.
        messages: The messages in the model's context.
    """
    if not messages:
        return
    first = max(len(messages) - _MOST_MESSAGES, 0)
    tail = [messages[number] for number in range(first, len(messages))]
    begins = max((number for number, each in enumerate(tail) if each.role == "user"), default=0)
    if first + begins:
        screen.line(f"… {count(first + begins, 'message')} before", dim=True)
    failed = {each.tool_call_id for each in tail if each.role == "toolResult" and each.is_error}
    for message in tail[begins:]:
        _show(screen, message, failed)
    screen.end_text()


def echo(screen: Screen, text: str) -> None:
    """Show a user message as it was typed; only the beginning of a long one."""
    lines = text.strip("\n").split("\n")
    more = len(lines) - _ECHOED
    if more > 1:
        lines = [*lines[:_ECHOED], f"… {more} more lines"]
    screen.text("\n".join(f"{'> ' if number == 0 else '  '}{line}" for number, line in enumerate(lines)), "output")
    screen.end_text()


def _show(screen: Screen, message: Any, failed: set[str]) -> None:
    from pi_hookspecs import AssistantMessage, BashExecutionMessage, TextContent, ToolCall, UserMessage

    if isinstance(message, UserMessage):
        echo(screen, message.text)
    elif isinstance(message, BashExecutionMessage):
        echo(screen, f"!{message.command}")
    elif isinstance(message, AssistantMessage):
        for block in message.content:
            if isinstance(block, TextContent):
                screen.text(block.text)
                screen.end_text()
            elif isinstance(block, ToolCall):
                sign = screen.mark("failed" if block.id in failed else "call")
                call = call_line(block.name, block.arguments, screen.width - len(sign) - 1)
                screen.line(f"{sign} {call}", dim=True)
        if message.stop_reason == "aborted":
            screen.line("(stopped)", dim=True)
        elif message.stop_reason == "error":
            reason = error_text(message.error_message or "no reason given").sentences
            screen.line(f"(failed: {one_line(reason)})", dim=True)

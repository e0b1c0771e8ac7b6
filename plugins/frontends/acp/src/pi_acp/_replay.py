"""Replays a stored conversation to an editor that opens it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_acp._prompt import blocks_of
from pi_acp._tool_calls import call_fields, output_fields
from pi_hookspecs import AssistantMessage, TextContent, ThinkingContent, ToolCall, ToolResultMessage, UserMessage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pi_core.session import SessionManager

__all__ = ["replayed"]


def replayed(manager: SessionManager, cwd: Path) -> Iterator[dict[str, Any]]:
    """Yield the updates that display the branch: all of it, also what was summarised since."""
    open_calls: set[str] = set()
    for entry in manager.get_branch():
        message = getattr(entry, "message", None)
        if isinstance(message, UserMessage):
            yield from ({"sessionUpdate": "user_message_chunk", "content": each} for each in blocks_of(message.content))
        elif isinstance(message, AssistantMessage):
            for block in message.content:
                yield from _of_answer(block, cwd, open_calls)
        elif isinstance(message, ToolResultMessage):
            open_calls.discard(message.tool_call_id)
            yield {
                "sessionUpdate": "tool_call_update",
                "toolCallId": message.tool_call_id,
                "status": "failed" if message.is_error else "completed",
                **output_fields(message.content, message.details),
            }
        elif getattr(entry, "type", "") == "custom_message" and getattr(entry, "display", False):
            for each in blocks_of(getattr(entry, "content", "")):
                yield {"sessionUpdate": "agent_message_chunk", "content": each}
    for call_id in sorted(open_calls):  # the process ended before they did
        yield {"sessionUpdate": "tool_call_update", "toolCallId": call_id, "status": "failed"}


def _of_answer(block: Any, cwd: Path, open_calls: set[str]) -> Iterator[dict[str, Any]]:
    if isinstance(block, TextContent) and block.text:
        yield {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": block.text}}
    elif isinstance(block, ThinkingContent) and block.thinking:
        yield {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": block.thinking}}
    elif isinstance(block, ToolCall):
        open_calls.add(block.id)
        fields = call_fields(block.name, block.arguments, cwd)
        yield {"sessionUpdate": "tool_call", "toolCallId": block.id, "status": "pending", **fields}

"""Replays a stored conversation to an editor that opens it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_acp.prompt import blocks_of
from pi_acp.tool_calls import call_fields, output_fields, stored_diffs
from pi_hookspecs import (
    AssistantMessage,
    BashExecutionMessage,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pi_core import SessionManager

__all__ = ["replayed"]


def replayed(manager: SessionManager, cwd: Path) -> Iterator[dict[str, Any]]:
    """Yield the updates that display the whole branch, including messages summarised since."""
    open_calls: dict[str, ToolCall] = {}
    for entry in manager.get_branch():
        message = getattr(entry, "message", None)
        if isinstance(message, UserMessage):
            yield from ({"sessionUpdate": "user_message_chunk", "content": each} for each in blocks_of(message.content))
        elif isinstance(message, AssistantMessage):
            for block in message.content:
                yield from _of_answer(block, cwd, open_calls)
        elif isinstance(message, ToolResultMessage):
            call = open_calls.pop(message.tool_call_id, None)
            diffs = [] if call is None or message.is_error else stored_diffs(call.name, call.arguments, cwd)
            yield {
                "sessionUpdate": "tool_call_update",
                "toolCallId": message.tool_call_id,
                "status": "failed" if message.is_error else "completed",
                **output_fields(message.content, message.details, diffs),
            }
        elif isinstance(message, BashExecutionMessage):
            yield _of_user_command(entry.id, message, cwd)
        elif getattr(entry, "type", "") == "custom_message" and getattr(entry, "display", False):
            for each in blocks_of(getattr(entry, "content", "")):
                yield {"sessionUpdate": "agent_message_chunk", "content": each}
    for call_id in open_calls:  # the process ended before they did
        yield {"sessionUpdate": "tool_call_update", "toolCallId": call_id, "status": "failed"}


def _of_user_command(entry_id: str, message: BashExecutionMessage, cwd: Path) -> dict[str, Any]:
    return {
        "sessionUpdate": "tool_call",
        "toolCallId": f"user-{entry_id}",
        "status": "failed" if message.cancelled or message.exit_code else "completed",
        **call_fields("bash", {"command": message.command}, cwd),
        **output_fields([TextContent(message.output)]),
    }


def _of_answer(block: Any, cwd: Path, open_calls: dict[str, ToolCall]) -> Iterator[dict[str, Any]]:
    if isinstance(block, TextContent) and block.text:
        yield {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": block.text}}
    elif isinstance(block, ThinkingContent) and block.thinking:
        yield {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": block.thinking}}
    elif isinstance(block, ToolCall):
        open_calls[block.id] = block
        fields = call_fields(block.name, block.arguments, cwd)
        yield {"sessionUpdate": "tool_call", "toolCallId": block.id, "status": "pending", **fields}

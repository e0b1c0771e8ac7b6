"""Reports a child session's progress as partial results of the tool call that runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import TextContent, ToolResult, Usage

if TYPE_CHECKING:
    from pi_hookspecs import ToolUpdate

__all__ = ["Relay"]

LINES = 20
"""Lines of progress that a call shows."""
LINE_WIDTH = 160
"""Characters."""


class Relay:
    """Converts the events of a child session to partial results of a tool call.

    Args:
        update: Called with each partial result.
    """

    def __init__(self, update: ToolUpdate) -> None:
        self._update = update
        self._lines: list[str] = []
        self._turns = self._calls = 0
        self._usage = Usage()

    def on_event(self, event: Any) -> None:
        """Report the tool calls and answers of the child session."""
        if event.type == "tool_execution_start":
            self._calls += 1
            arguments = ", ".join(f"{name}={value!r}" for name, value in event.args.items())
            self._lines.append(f"{event.tool_name}({arguments})"[:LINE_WIDTH])
        elif event.type == "message_end" and event.message.role == "assistant":
            self._turns += 1
            self._usage += event.message.usage
            self._lines += [line[:LINE_WIDTH] for line in event.message.text.splitlines() if line.strip()]
        else:
            return
        self._lines = self._lines[-LINES:]
        details = {"turns": self._turns, "toolCalls": self._calls, "cost": self._usage.cost.total}
        self._update(ToolResult(content=(TextContent("\n".join(self._lines)),), details=details))

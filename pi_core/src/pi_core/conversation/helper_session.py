"""A session inside a session: a helper that a plugin gives a task to, and its progress under the call that asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import PiError, TextContent, ToolResult, Usage

if TYPE_CHECKING:
    from pi_core.conversation.session import AgentSession
    from pi_hookspecs import AbortSignal, ToolUpdate

__all__ = ["Relay", "create_helper"]

DEEPEST = 4
"""How many helpers deep; one that calls itself through its own tools would otherwise go on until the money is gone."""
LINES = 20
"""How much of its progress a call shows."""
LINE_WIDTH = 160


def create_helper(parent: AgentSession, signal: AbortSignal | None, options: dict[str, Any]) -> AgentSession:
    """Return a session with its parent's plugins, models, settings, folder and model, kept in memory.

    Args:
        parent: Whose plugin asks.
        signal: Aborts the helper, too.
        options: Of ``create_agent_session``; they count before what the parent has.

    Raises:
        PiError: It would be one too deep.
    """
    from pi_core.create import create_agent_session
    from pi_core.session import SessionManager

    if parent.depth >= DEEPEST:
        raise PiError(
            f"Helpers may be {DEEPEST} deep, and this one would be deeper. Give it no tools that make helpers."
        )
    cwd = options.get("cwd", parent.cwd)
    inherited: dict[str, Any] = {
        "cwd": cwd,
        "host": parent.host,
        "settings": parent.settings,
        "model_registry": parent.models,
        "model": parent.model,
        "thinking_level": parent.thinking_level,
        "ui": parent.ui if parent.has_ui else None,
        "mode": parent.mode,
        "flags": parent.flags,
        "deps": parent.deps,
    }
    if "session_manager" not in options:
        inherited["session_manager"] = SessionManager.in_memory(cwd)
    helper = create_agent_session(**{**inherited, **options})
    helper.depth = parent.depth + 1
    if signal is not None:
        signal.on_abort(lambda: helper.request_abort(signal.reason or "Operation aborted"))
        if signal.aborted:
            raise PiError(signal.reason or "Operation aborted")
    return helper


class Relay:
    """Makes partial results of a call of what a helper does.

    Args:
        update: Shows one.
    """

    def __init__(self, update: ToolUpdate) -> None:
        self._update = update
        self._lines: list[str] = []
        self._turns = self._calls = 0
        self._usage = Usage()

    def hear(self, event: Any) -> None:
        """Take an event of the helper's session."""
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

"""Converts a session's events to updates for the editor, and merges the model's output into at most thirty a second."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pi_acp.options import config_options
from pi_acp.tool_calls import call_fields, kind_of, output_fields
from pi_core import print_warning, require_local
from pi_hookspecs import AssistantMessage, text_of

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from pathlib import Path

    from pi_acp.client import Client
    from pi_core import Session
    from pi_hookspecs import AbortSignal

__all__ = ["Chunks", "Updates"]


_CHUNK_INTERVAL = 1 / 30
"""Seconds between two updates with text."""


class Chunks:
    """The text of one session on its way to the editor.

    Args:
        client: The editor.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._loop = asyncio.get_running_loop()
        self._kind = ""
        self._parts: list[str] = []
        self._sent = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def add(self, kind: str, text: str) -> None:
        """Add text to a message or a thought: ``agent_message_chunk``, ``agent_thought_chunk``."""
        if not text:
            return
        if kind != self._kind:
            self.flush()
            self._kind = kind
        self._parts.append(text)
        if self._timer is None:
            self._timer = self._loop.call_at(self._sent + _CHUNK_INTERVAL, self.flush)

    def flush(self) -> None:
        """Send pending text before anything else is sent."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._parts:
            text = "".join(self._parts)
            self._parts.clear()
            self._sent = self._loop.time()
            self._client.update(self._kind, content={"type": "text", "text": text})


_PARTIAL_INTERVAL = 0.1
"""Minimum seconds between two updates with a call's partial output."""

_PRIORITIES = ("high", "medium", "low")
_STATES = ("pending", "in_progress", "completed")


class Updates:
    """Listens to a session.

    Args:
        client: The editor.
        cwd: The session's folder, to which tool paths are relative.

    """

    def __init__(self, client: Client, cwd: Path) -> None:
        self._client = client
        self._cwd = cwd
        self._chunks = Chunks(client)
        self._running: dict[str, list[dict[str, Any]]] = {}
        self._partial: dict[str, Any] = {}
        self._terminals: dict[str, list[dict[str, Any]]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._commands: list[dict[str, Any]] | None = None

    def listen(self, session: Session) -> None:
        """Subscribe to a session's events, and to the channel ``plan`` of its plugins."""
        self._session = session
        session.subscribe(self._on_event)
        require_local(session, "Showing plans of plugins").bus.add("acp-session", "plan", self._on_plan)

    def say(self, text: str) -> None:
        """Display a text as a message of the agent."""
        self._chunks.add("agent_message_chunk", text)

    def flush(self) -> None:
        """Send all pending text."""
        self._chunks.flush()

    def send(self, kind: str, /, **fields: Any) -> None:
        """Send an update, after the text before it."""
        self._chunks.flush()
        self._client.update(kind, **fields)

    async def commands(self) -> None:
        """Send the commands if they have changed."""
        commands = []
        for each in await self._session.get_commands():
            hint = {"input": {"hint": each.argument_hint}} if each.argument_hint else {}
            commands.append({"name": each.name, "description": each.description or "", **hint})
        if commands != self._commands:
            self._commands = commands
            self.send("available_commands_update", availableCommands=commands)

    def options(self) -> None:
        """Send the options."""
        switches = self._client.can.has_switches
        self.send("config_option_update", configOptions=config_options(self._session, switches=switches))

    def usage(self) -> None:
        """Send the context usage and the cost of the session."""
        stats = self._session.get_session_stats()
        used, cost = stats.context_usage, stats.cost
        if used is not None and used.tokens is not None:
            money = {"cost": {"amount": cost, "currency": "USD"}} if cost else {}
            self.send("usage_update", used=used.tokens, size=used.context_window, **money)

    def begun(self, call_id: str, diffs: list[dict[str, Any]], locations: list[dict[str, Any]] | None = None) -> None:
        """Display that a call is running and where, and record what it changes; calls of subagents are ignored."""
        if call_id in self._running:
            self._running[call_id] = diffs
            at = {"locations": locations} if locations else {}
            self.send("tool_call_update", toolCallId=call_id, status="in_progress", **at)

    def embed(self, call_id: str, terminal_id: str) -> None:
        """Display a terminal of the editor in place of a call's output."""
        if call_id in self._running:
            shown = self._terminals.setdefault(call_id, [])
            shown.append({"type": "terminal", "terminalId": terminal_id})
            self.send("tool_call_update", toolCallId=call_id, content=[*shown])

    # Events

    def _on_event(self, event: Any, _signal: AbortSignal | None) -> Awaitable[None] | None:
        handler = _HANDLERS.get(event.type)
        if handler is not None:
            handler(self, event)
        return self._client.peer.writer.room() if self._client.peer.writer.is_full else None

    def _on_update(self, event: Any) -> None:
        update = event.assistant_message_event
        if update.type == "text_delta":
            self._chunks.add("agent_message_chunk", update.delta)
        elif update.type == "thinking_delta":
            self._chunks.add("agent_thought_chunk", update.delta)
        elif update.type == "toolcall_start":
            self._name(update.id, update.tool_name)

    def _on_message_end(self, event: Any) -> None:
        message = event.message
        if message.role == "custom" and message.display:
            self.say(f"{text_of(message.content)}\n\n")
        elif isinstance(message, AssistantMessage) and message.text:
            self._chunks.flush()

    def _name(self, call_id: str, tool: str) -> None:
        self._running[call_id] = []
        self.send("tool_call", toolCallId=call_id, title=tool, kind=kind_of(tool), status="pending")

    def _on_call_start(self, event: Any) -> None:
        kind = "tool_call_update" if event.tool_call_id in self._running else "tool_call"
        self._running[event.tool_call_id] = []
        fields = call_fields(event.tool_name, event.args, self._cwd)
        self.send(kind, toolCallId=event.tool_call_id, status="pending", **fields)

    def _on_call_update(self, event: Any) -> None:
        if event.tool_call_id in self._terminals:
            return
        self._partial[event.tool_call_id] = event.partial_result
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_PARTIAL_INTERVAL, self._send_partial)

    def _send_partial(self) -> None:
        self._timer = None
        partial, self._partial = self._partial, {}
        for call_id, result in partial.items():
            fields = output_fields(result.content)
            if fields["content"]:
                self.send("tool_call_update", toolCallId=call_id, **fields)

    def _on_call_end(self, event: Any) -> None:
        self._partial.pop(event.tool_call_id, None)
        changed = self._running.pop(event.tool_call_id, [])
        terminals = self._terminals.pop(event.tool_call_id, [])
        result = event.result
        self.send(
            "tool_call_update",
            toolCallId=event.tool_call_id,
            status="failed" if event.is_error else "completed",
            **output_fields(result.content, result.details, terminals or ([] if event.is_error else changed)),
        )

    def _on_turn_end(self, _event: Any) -> None:
        self.usage()

    def _on_option(self, _event: Any) -> None:
        self.options()

    def _on_name(self, event: Any) -> None:
        self.send("session_info_update", title=event.name)

    def _on_error(self, event: Any) -> None:
        print_warning(f"Plugin {event.extension_path!r} ({event.event}): {event.error}")

    def _on_plan(self, plan: Any) -> None:
        entries = plan.get("entries") if isinstance(plan, dict) else plan
        if isinstance(entries, list | tuple):
            self.send("plan", entries=[_plan_entry(each) for each in entries])


def _plan_entry(given: Any) -> dict[str, str]:
    fields = given if isinstance(given, dict) else {"content": given}
    priority, status = fields.get("priority"), fields.get("status")
    return {
        "content": str(fields.get("content", "")),
        "priority": priority if priority in _PRIORITIES else "medium",
        "status": status if status in _STATES else "pending",
    }


_HANDLERS = {
    "message_update": Updates._on_update,  # noqa: SLF001 - the class's own table
    "message_end": Updates._on_message_end,  # noqa: SLF001
    "tool_execution_start": Updates._on_call_start,  # noqa: SLF001
    "tool_execution_update": Updates._on_call_update,  # noqa: SLF001
    "tool_execution_end": Updates._on_call_end,  # noqa: SLF001
    "turn_end": Updates._on_turn_end,  # noqa: SLF001
    "model_select": Updates._on_option,  # noqa: SLF001
    "thinking_level_changed": Updates._on_option,  # noqa: SLF001
    "session_info_changed": Updates._on_name,  # noqa: SLF001
    "extension_error": Updates._on_error,  # noqa: SLF001
}

"""Messages and entries that share nothing changeable with the session's own: they are frozen, but they hold dicts."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import evolve

from pi_hookspecs.content import ToolCall
from pi_hookspecs.entries import MessageEntry
from pi_hookspecs.messages import AssistantMessage

if TYPE_CHECKING:
    from pi_hookspecs import AgentMessage, SessionEntry

__all__ = ["copied", "unshared", "unshared_entry"]

M = TypeVar("M", bound="AgentMessage")
E = TypeVar("E", bound="SessionEntry")


def copied(value: Any) -> Any:
    """Return a deep copy of what should be plain data; what cannot be copied is shared, and nobody else's problem."""
    try:
        return deepcopy(value)
    except Exception:  # noqa: BLE001 - a tool may put anything into its details
        return value


def unshared(message: M) -> M:
    """Return a message of one's own; the message itself where nothing in it can be changed."""
    changes = _own_data(message)
    if isinstance(message, AssistantMessage) and message.tool_calls:
        changes["content"] = tuple(
            evolve(block, arguments=copied(block.arguments)) if isinstance(block, ToolCall) else block
            for block in message.content
        )
    return evolve(message, **changes) if changes else message


def unshared_entry(entry: E) -> E:
    """Return an entry of one's own; the entry itself where nothing in it can be changed."""
    changes = _own_data(entry)
    if isinstance(entry, MessageEntry) and (message := unshared(entry.message)) is not entry.message:
        changes["message"] = message
    return evolve(entry, **changes) if changes else entry


def _own_data(value: AgentMessage | SessionEntry) -> dict[str, Any]:
    """Return copies of what plugins and other programs put into a message or entry, by field."""
    data = {name: getattr(value, name, None) for name in ("data", "details", "extra")}
    return {name: copied(each) for name, each in data.items() if each is not None and (each or name != "extra")}

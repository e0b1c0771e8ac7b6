"""Copies of messages and entries. They are frozen, but they hold dicts, which a plugin could change in place."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import evolve

from pi_hookspecs.content import ToolCall
from pi_hookspecs.entries import MessageEntry
from pi_hookspecs.messages import AssistantMessage

if TYPE_CHECKING:
    from pi_hookspecs import AgentMessage, SessionEntry

__all__ = ["copied_data", "copy_data", "copy_entry", "copy_message"]

_WITH_DATA = ("data", "details", "extra")
"""Fields in which plugins and other programs store data."""

M = TypeVar("M", bound="AgentMessage")
E = TypeVar("E", bound="SessionEntry")


_IMMUTABLE = frozenset({bool, float, int, str, type(None)})


def copy_data(value: Any) -> Any:
    """Return a deep copy of plain data; a value that cannot be copied is returned unchanged."""
    if type(value) is dict and (copied := _copied_flat(value)) is not None:
        return copied
    try:
        return deepcopy(value)
    except Exception:  # noqa: BLE001 - a tool may put anything into its details
        return value


def _copied_flat(value: dict[Any, Any]) -> dict[Any, Any] | None:
    """Return a copy of a dict of plain values and of lists of them, as most arguments are; None for another one."""
    copied = value.copy()
    for key, each in value.items():
        if type(each) in _IMMUTABLE:
            continue
        if type(each) is not list or any(type(item) not in _IMMUTABLE for item in each):
            return None
        copied[key] = each.copy()
    return copied


def copy_message(message: M) -> M:
    """Return a message that shares no mutable data with the given message, which is returned if it has none."""
    changes = _copied_fields(message)
    if isinstance(message, AssistantMessage) and message.tool_calls:
        blocks = [
            evolve(block, arguments=copy_data(block.arguments)) if isinstance(block, ToolCall) else block
            for block in message.content
        ]
        changes["content"] = (*blocks,)
    return evolve(message, **changes) if changes else message


def copy_entry(entry: E) -> E:
    """Return an entry that shares no mutable data with the given entry, which is returned if it has none."""
    changes = _copied_fields(entry)
    if isinstance(entry, MessageEntry) and (message := copy_message(entry.message)) is not entry.message:
        changes["message"] = message
    return evolve(entry, **changes) if changes else entry


def copied_data(message: AgentMessage) -> list[Any]:
    """Return the data of a message that ``copy_message`` copies."""
    fields = ((name, getattr(message, name, None)) for name in _WITH_DATA)
    data = [each for name, each in fields if _is_copied(name, each)]
    if isinstance(message, AssistantMessage):
        data += [call.arguments for call in message.tool_calls]
    return data


def _copied_fields(value: AgentMessage | SessionEntry) -> dict[str, Any]:
    """Return copies of the fields with data, by name."""
    copied = {}
    for name in _WITH_DATA:
        each = getattr(value, name, None)
        if _is_copied(name, each):
            copied[name] = copy_data(each)
    return copied


def _is_copied(name: str, data: Any) -> bool:
    return data is not None and (name != "extra" or bool(data))

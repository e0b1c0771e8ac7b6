"""Copies of events and messages for plugins, so that their changes do not affect the transcript."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

from attrs import evolve

from pi_core.session.copies import copy_data, copy_message
from pi_hookspecs import AssistantMessage

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs import AgentEvent, AgentMessage, ToolResult

__all__ = ["Copies", "LazyCopies", "copy_event"]

E = TypeVar("E", bound="AgentEvent")


def copy_event(event: E) -> E:
    """Return an event that shares no mutable data with the transcript; only needed if there is a listener."""
    own = _OWN.get(event.type)
    return evolve(event, **own(event)) if own is not None else event


def _own_details(result: ToolResult) -> ToolResult:
    return result if result.details is None else evolve(result, details=copy_data(result.details))


def _own_call(inner: Any) -> Any:
    """Return a stream event with copied arguments; its partial message is rebuilt for each reader."""
    if inner.type != "toolcall_end":
        return inner
    return evolve(inner, tool_call=evolve(inner.tool_call, arguments=copy_data(inner.tool_call.arguments)))


_OWN: dict[str, Callable[[Any], dict[str, Any]]] = {
    "agent_end": lambda event: {"messages": tuple(map(copy_message, event.messages))},
    "message_start": lambda event: {"message": copy_message(event.message)},
    "message_update": lambda event: {"assistant_message_event": _own_call(event.assistant_message_event)},
    "tool_execution_end": lambda event: {"result": _own_details(event.result)},
    "tool_execution_update": lambda event: {"partial_result": _own_details(event.partial_result)},
    "turn_end": lambda event: {
        "message": copy_message(event.message),
        "tool_results": tuple(map(copy_message, event.tool_results)),
    },
}
"""Copiers of an event's fields with mutable data, by type name, so that not all event classes must be imported."""


class Copies:
    """Copies of a growing conversation, created once and reused until a plugin has changed them.

    Every request passes the whole conversation to plugins; copying it each time would cost more as it grows.
    """

    def __init__(self) -> None:
        self._made: dict[int, tuple[AgentMessage, AgentMessage]] = {}

    def of(self, messages: Sequence[AgentMessage]) -> tuple[AgentMessage, ...]:
        """Return a copy of each message; copies of removed messages are dropped."""
        before, self._made = self._made, {}
        return tuple([self._copy(message, before.get(id(message))) for message in messages])

    def _copy(self, message: AgentMessage, made: tuple[AgentMessage, AgentMessage] | None) -> AgentMessage:
        if made is None or not _untouched(*made):
            copy = copy_message(message)
            if copy is message:
                return message
            made = (message, copy)  # the pair keeps the message alive, so its id is not reused
        self._made[id(message)] = made
        return made[1]


def _untouched(message: Any, copy: Any) -> bool:
    if isinstance(message, AssistantMessage):
        calls = zip(message.tool_calls, copy.tool_calls, strict=True)
        return all(mine.arguments == theirs.arguments for mine, theirs in calls)
    return bool(message == copy)


class LazyCopies(Sequence["AgentMessage"]):
    """A sequence of messages that are copied on access, so that reading the last one copies no other."""

    def __init__(self, messages: Sequence[AgentMessage]) -> None:
        self._messages = messages
        self._length = len(messages)  # the conversation may grow, but the length of the snapshot is fixed

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, place: int) -> AgentMessage: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[AgentMessage, ...]: ...
    def __getitem__(self, place: int | slice) -> AgentMessage | tuple[AgentMessage, ...]:
        if isinstance(place, slice):
            return tuple(self[each] for each in range(*place.indices(self._length)))
        return copy_message(self._messages[range(self._length)[place]])

"""Events and conversations for plugins to look at: copies, so that what they change in them reaches no transcript."""

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
    """Return an event that shares nothing changeable with the transcript; build one only where somebody listens."""
    own = _OWN.get(event.type)
    return evolve(event, **own(event)) if own is not None else event


def _own_details(result: ToolResult) -> ToolResult:
    return result if result.details is None else evolve(result, details=copy_data(result.details))


def _own_call(inner: Any) -> Any:
    """Return a stream event with arguments of its own; a partial is made anew for whoever looks."""
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
"""The fields of an event that hold something changeable, as copies. By type: not every run loads all the classes."""


class Copies:
    """Unshared copies of a conversation that grows, made once and used again as long as nobody changed them.

    Every request hands out the whole conversation; to copy it anew each time would cost more the longer it is.
    """

    def __init__(self) -> None:
        self._made: dict[int, tuple[AgentMessage, AgentMessage]] = {}

    def of(self, messages: Sequence[AgentMessage]) -> tuple[AgentMessage, ...]:
        """Return a copy of each message; messages that are gone are forgotten."""
        before, self._made = self._made, {}
        return tuple([self._copy(message, before.get(id(message))) for message in messages])

    def _copy(self, message: AgentMessage, made: tuple[AgentMessage, AgentMessage] | None) -> AgentMessage:
        if made is None or not _untouched(*made):
            copy = copy_message(message)
            if copy is message:
                return message
            made = (message, copy)  # the pair keeps the message, so that its id stays its own
        self._made[id(message)] = made
        return made[1]


def _untouched(message: Any, copy: Any) -> bool:
    if isinstance(message, AssistantMessage):
        calls = zip(message.tool_calls, copy.tool_calls, strict=True)
        return all(mine.arguments == theirs.arguments for mine, theirs in calls)
    return bool(message == copy)


class LazyCopies(Sequence["AgentMessage"]):
    """A conversation whose messages are copied when they are looked at: who asks for the last pays for no other."""

    def __init__(self, messages: Sequence[AgentMessage]) -> None:
        self._messages = messages
        self._length = len(messages)  # the conversation may grow; we end where it ended

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

"""Copies of events and messages for plugins, so that their changes do not affect the transcript."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

from attrs import evolve

from pi_core.session.copies import copied_data, copy_data, copy_message
from pi_hookspecs.unchanged import Contents, first_difference

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs import AgentEvent, AgentMessage, ToolResult
    from pi_hookspecs.unchanged import Place

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

    Every request passes the whole conversation to plugins; copying it each time would cost more as it grows. Whether
    the copies still contain what they did is compared without Python code for each message (``Contents``).
    """

    def __init__(self) -> None:
        self._messages: list[AgentMessage] = []
        self._copies: list[AgentMessage] = []
        self._contents = Contents()
        self._marks: list[tuple[int, Place]] = []
        """The index of each message that has a copy, and the place of the copy's data in the contents."""
        self._unsure: set[int] = set()
        """Indices of copies in which a change would not be seen, because they contain objects of other classes."""

    def of(self, messages: Sequence[AgentMessage]) -> tuple[AgentMessage, ...]:
        """Return a copy of each message; copies of removed messages are dropped."""
        same = first_difference(self._messages, messages)
        if same < len(self._messages):
            self._forget(same)
        if not self._contents.same():
            self._renew()
        for index in self._unsure:
            if not _untouched(self._messages[index], self._copies[index]):
                self._copies[index] = copy_message(self._messages[index])
        for message in messages[same:]:
            self._add(message, copy_message(message))
        return tuple(self._copies)

    def _add(self, message: AgentMessage, copy: AgentMessage) -> None:
        index = len(self._copies)
        self._messages.append(message)
        self._copies.append(copy)
        if copy is message:
            return
        self._marks.append((index, self._contents.place))
        if not all(self._contents.add(each) for each in copied_data(copy)):
            self._unsure.add(index)

    def _forget(self, length: int) -> None:
        """Drop what follows the first messages."""
        del self._messages[length:], self._copies[length:]
        place = next((place for index, place in self._marks if index >= length), None)
        if place is not None:
            self._contents.cut(place)
            self._marks = [mark for mark in self._marks if mark[0] < length]
            self._unsure = {index for index in self._unsure if index < length}

    def _renew(self) -> None:
        """Copy the messages again whose copies were changed."""
        ends = [*(place for _, place in self._marks[1:]), self._contents.place]
        changed = {
            index for (index, start), end in zip(self._marks, ends, strict=True) if not self._contents.same(start, end)
        }
        pairs = [*zip(self._messages, self._copies, strict=True)]
        self._forget(0)
        for index, (message, copy) in enumerate(pairs):
            self._add(message, copy_message(message) if index in changed else copy)


def _untouched(message: Any, copy: Any) -> bool:
    try:
        return bool(message == copy)
    except Exception:  # noqa: BLE001 - what a tool put into its details may refuse the comparison
        return False


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

"""Tool calls and their results: on every branch each call has one result after it, and each result a call before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from attrs import Factory, define, frozen

from pi_hookspecs.messages import AssistantMessage, ToolResultMessage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pi_hookspecs.rare_messages import AgentMessage

__all__ = ["ToolCalls"]

_UNFINISHED = ("error", "aborted")
"""Stop reasons of answers whose calls are not run."""


@frozen
class _Call:
    """A call, the entry that it is in, and whether it should have a result."""

    id: str
    name: str
    number: int
    wanted: bool


_Pending: TypeAlias = "dict[str, _Call]"


@define(eq=False)
class ToolCalls:
    """The calls and results of a session, by the numbers of their entries."""

    _calls: dict[int, tuple[_Call, ...]] = Factory(dict)
    _results: dict[int, str] = Factory(dict)

    def note(self, number: int, message: AgentMessage) -> None:
        """Record the calls, or the result, in an entry's message."""
        if isinstance(message, AssistantMessage) and message.tool_calls:
            wanted = message.stop_reason not in _UNFINISHED
            self._calls[number] = tuple(_Call(call.id, call.name, number, wanted) for call in message.tool_calls)
        elif isinstance(message, ToolResultMessage):
            self._results[number] = message.tool_call_id

    def unpaired(self, parents: Mapping[int, int | None], line_of: Callable[[int], int]) -> Iterator[tuple[int, str]]:
        """Follow every branch from its root.

        Yields:
            The number of an entry, and the problem with a call or a result in it.
        """
        children: dict[int | None, list[int]] = {}
        for number, parent in parents.items():
            children.setdefault(parent, []).append(number)
        reported: set[_Call] = set()
        waiting: list[tuple[int, _Pending]] = [(root, {}) for root in children.get(None, ())]
        while waiting:
            number, pending = waiting.pop()
            result = self._results.get(number)
            if result is not None and result not in pending:
                yield number, f"it is a result, but no earlier tool call {result!r} waits for one"
            pending = self._after(number, pending)
            below = children.get(number, ())
            waiting += [(child, pending) for child in below]
            for call in () if below else pending.values():
                if call.wanted and call not in reported:
                    reported.add(call)
                    yield call.number, _no_result(call, line_of(number))

    def _after(self, number: int, pending: _Pending) -> _Pending:
        """Return the calls without a result after an entry."""
        result = self._results.get(number)
        if result in pending:
            pending = {call_id: call for call_id, call in pending.items() if call_id != result}
        calls = self._calls.get(number, ())
        return pending | {call.id: call for call in calls} if calls else pending


def _no_result(call: _Call, line: int) -> str:
    return f"its tool call {call.id!r} of {call.name!r} has no result on the branch that ends in line {line}"

"""A plugin that answers tool calls with the recorded results, so that no tool runs."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from pi_hookspecs import ToolCallResult, ToolResult, ToolResultResult, hookimpl
from pi_replay.recording import key_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_hookspecs import AssistantMessage, ToolCallEvent, ToolResultEvent, ToolResultMessage
    from pi_replay.recording import Key, Turn

__all__ = ["RecordedTools"]


@frozen
class _Recorded:
    """A recorded result; None for a call that was interrupted."""

    result: ToolResult | None


class RecordedTools:
    """Answers calls by name and arguments: the n-th equal call gets the n-th result, later ones the last."""

    def __init__(self, turns: Iterable[Turn]) -> None:
        self._recorded: dict[Key, list[_Recorded]] = defaultdict(list)
        self._made: dict[Key, int] = defaultdict(int)
        self._answers: dict[str, list[_Recorded]] = defaultdict(list)
        self._given: dict[str, list[ToolResult]] = defaultdict(list)
        for turn in turns:
            left = {call_id: [*results] for call_id, results in turn.results.items()}
            for answer in turn.answers:
                is_last = turn.ends_with_results and answer is turn.answers[-1]
                for call in answer.tool_calls:
                    results = left.get(call.id)
                    result = _as_result(results.pop(0), terminate=is_last) if results else None
                    self._recorded[key_of(call)].append(_Recorded(result))

    def prepare(self, answer: AssistantMessage) -> tuple[int | None, bool]:
        """Choose the results for the calls of an answer before they run.

        Returns:
            The number of the first call that was not recorded, or None; and whether a call was interrupted then.
        """
        was_interrupted = False
        for number, call in enumerate(answer.tool_calls):
            recorded = self._recorded.get(key_of(call))
            if recorded is None:
                return number, was_interrupted
            key = key_of(call)
            chosen = recorded[min(self._made[key], len(recorded) - 1)]
            self._made[key] += 1
            self._answers[call.id].append(chosen)
            was_interrupted = was_interrupted or chosen.result is None
        return None, was_interrupted

    @hookimpl(trylast=True)  # guards are asked as in any session
    def tool_call(self, event: ToolCallEvent) -> ToolCallResult:
        """Return the recorded result; a call without one is refused, because no tool may run."""
        waiting = self._answers.get(event.tool_call_id)
        result = waiting.pop(0).result if waiting else None
        if result is None:
            return ToolCallResult(block=True, reason="Not run: the recorded session has no result of this call.")
        self._given[event.tool_call_id].append(result)
        return ToolCallResult(result=result)

    @hookimpl(trylast=True)
    def tool_result(self, event: ToolResultEvent) -> ToolResultResult | None:
        """Keep the recorded result, which already contains the changes of plugins."""
        given = self._given.get(event.tool_call_id)
        if not given:
            return None
        result = given.pop(0)
        return ToolResultResult(content=result.content, details=result.details, is_error=result.is_error)


def _as_result(message: ToolResultMessage, *, terminate: bool) -> ToolResult:
    blocks: Any = tuple(each for each in message.content if each.type in ("text", "image"))
    result = ToolResult(content=blocks, details=message.details, is_error=message.is_error)
    return evolve(result, terminate=terminate)  # not its usage: nothing is spent again

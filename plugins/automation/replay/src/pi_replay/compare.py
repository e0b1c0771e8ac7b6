"""Compares a replayed prompt with the recorded one."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from attrs import Factory, define, field, frozen

from pi_hookspecs import Usage
from pi_replay.recording import key_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import AssistantMessage, ToolCall
    from pi_replay.recording import Turn

__all__ = ["Divergence", "Report", "Row", "text_distance"]

_WORDS = 4000
"""Only this many words of a text are compared: the time grows with the square."""


@frozen
class Divergence:
    """The first call that the recording does not have.

    Attributes:
        turn: The number of the prompt, from 1.
        entry: Id of the prompt's entry in the recorded session.
        call: The call.
        recorded: The recorded call at its place; None if the prompt had no more calls.
    """

    turn: int
    entry: str
    call: ToolCall
    recorded: ToolCall | None


@define(eq=False)
class Row:
    """A prompt, as it was recorded and as it was replayed.

    Attributes:
        number: From 1.
        turn: The recorded turn.
        answers: The replay's answers.
        error: Why its last request failed.
    """

    number: int
    turn: Turn
    answers: list[AssistantMessage] = field(factory=list)
    error: str | None = None

    @property
    def calls(self) -> list[ToolCall]:
        """The calls of the replay."""
        return [call for answer in self.answers for call in answer.tool_calls]

    @property
    def has_equal_calls(self) -> bool:
        """Whether the calls equal the recorded ones, in the same order."""
        return [key_of(each) for each in self.calls] == [key_of(each) for each in self.turn.calls]

    @property
    def changed_arguments(self) -> int:
        """The number of calls with the same tool at the same place but other arguments."""
        pairs = zip(self.turn.calls, self.calls, strict=False)
        return sum(old.name == new.name and key_of(old) != key_of(new) for old, new in pairs)

    @property
    def distance(self) -> float:
        """How much the texts of the answers differ: 0 if equal, 1 without a common word."""
        return text_distance(_text(self.turn.answers), _text(self.answers))


@define(eq=False)
class Report:
    """The outcome of a replay.

    Attributes:
        rows: The prompts that were replayed.
        file: The new session's file.
        model: Name of the model, if one was chosen for all prompts.
        notes: What the user should know, in full sentences.
    """

    rows: list[Row] = Factory(list)
    divergence: Divergence | None = None
    error: str | None = None
    file: str | None = None
    model: str | None = None
    notes: list[str] = Factory(list)

    def usage(self, *, recorded: bool) -> Usage:
        """Return the usage of all answers, recorded or replayed."""
        return _sum([each for row in self.rows for each in (row.turn.answers if recorded else row.answers)])

    def as_json(self) -> dict[str, Any]:
        """Return it for ``--json``."""
        return {
            "file": self.file,
            "model": self.model,
            "turns": [_row_json(each) for each in self.rows],
            "divergence": _divergence_json(self.divergence) if self.divergence is not None else None,
            "error": self.error,
            "recorded": _usage_json(self.usage(recorded=True)),
            "replayed": _usage_json(self.usage(recorded=False)),
            "notes": self.notes,
        }


def text_distance(one: str, other: str) -> float:
    """Return how much two texts differ by words, between 0 and 1."""
    if one == other:
        return 0.0
    words, others = one.split()[:_WORDS], other.split()[:_WORDS]
    return round(1 - SequenceMatcher(None, words, others, autojunk=False).ratio(), 3)


def cache_rate(usage: Usage) -> float | None:
    """Return the fraction of the input that was read from the cache; None without input."""
    total = usage.input + usage.cache_read + usage.cache_write
    return round(usage.cache_read / total, 3) if total else None


def _row_json(row: Row) -> dict[str, Any]:
    return {
        "turn": row.number,
        "entry": row.turn.entry,
        "prompt": row.turn.text,
        "recorded": _side_json(row.turn.answers),
        "replayed": _side_json(row.answers),
        "equalCalls": row.has_equal_calls,
        "changedArguments": row.changed_arguments,
        "textDistance": row.distance,
        "error": row.error,
    }


def _side_json(answers: Sequence[AssistantMessage]) -> dict[str, Any]:
    calls = [_call_json(call) for answer in answers for call in answer.tool_calls]
    return {"requests": len(answers), "calls": calls, **_usage_json(_sum(answers))}


def _call_json(call: ToolCall) -> dict[str, Any]:
    return {"name": call.name, "arguments": call.arguments}


def _divergence_json(divergence: Divergence) -> dict[str, Any]:
    return {
        "turn": divergence.turn,
        "entry": divergence.entry,
        "call": _call_json(divergence.call),
        "recorded": _call_json(divergence.recorded) if divergence.recorded is not None else None,
    }


def _usage_json(usage: Usage) -> dict[str, Any]:
    return {"tokens": usage.total_tokens, "dollars": round(usage.cost.total, 6), "cacheRate": cache_rate(usage)}


def _sum(answers: Sequence[AssistantMessage]) -> Usage:
    return sum((each.usage for each in answers), Usage())


def _text(answers: Sequence[AssistantMessage]) -> str:
    return "\n".join(each.text for each in answers if each.text)

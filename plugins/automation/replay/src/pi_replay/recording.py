"""A stored session's recording: its prompts, and the calls, results and answers of each."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import define, evolve, field, frozen

from pi_hookspecs import AssistantMessage, ToolCall, ToolResultMessage, UserError, UserMessage
from pi_hookspecs.messages import now_ms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_hookspecs import AgentMessage, SessionEntry, SessionView

__all__ = ["Key", "Recording", "Turn", "key_of"]

Key: TypeAlias = "tuple[str, str]"
"""The key for comparing calls: the tool's name, and its arguments as JSON with sorted keys."""


def key_of(call: ToolCall) -> Key:
    """Return the key of a call."""
    return call.name, json.dumps(call.arguments, sort_keys=True, ensure_ascii=False)


@define(eq=False)
class Turn:
    """A prompt of the user and everything up to the next prompt.

    Attributes:
        entry: Id of the prompt's entry.
        prompt: The messages to send: commands that the user ran with ``!`` before, and the prompt.
        answers: The model's answers, without failed and aborted ones.
        steered: What the user sent meanwhile, by the number of answers before it.
        results: The results of the calls, by the call's id; models may reuse ids.
        was_cut_off: Whether it was aborted, or failed.
        model: Provider and id of the model.
        level: The thinking level; None if none is recorded.
    """

    entry: str
    prompt: tuple[AgentMessage, ...]
    model: tuple[str, str] | None = None
    level: str | None = None
    answers: list[AssistantMessage] = field(factory=list)
    steered: dict[int, list[UserMessage]] = field(factory=dict)
    results: dict[str, list[ToolResultMessage]] = field(factory=dict)
    was_cut_off: bool = False

    @property
    def text(self) -> str:
        """The user's words."""
        return " ".join(each.text for each in self.prompt if isinstance(each, UserMessage))

    @property
    def calls(self) -> list[ToolCall]:
        """All calls, in their order."""
        return [call for answer in self.answers for call in answer.tool_calls]

    @property
    def ends_with_results(self) -> bool:
        """Whether the turn ends with tool results: a tool ended the run, and no further request was made."""
        calls = self.answers[-1].tool_calls if self.answers and not self.was_cut_off else ()
        return bool(calls) and all(call.id in self.results for call in calls)


@frozen
class Recording:
    """The part of a session that is replayed.

    Attributes:
        turns: Its prompts, oldest first.
        compaction: Id of the compaction after which it begins; None if it begins with the session.
    """

    turns: tuple[Turn, ...]
    compaction: str | None = None

    def moved(self, old: str, new: str) -> Recording:
        """Return the recording of the same work in another folder: its path is replaced in prompts and arguments."""
        if old in {"", "/", new}:
            return self

        def message(each: Any) -> Any:
            return evolve(each, content=_replaced(each.content, old, new)) if isinstance(each, UserMessage) else each

        def answer(each: AssistantMessage) -> AssistantMessage:
            content = (
                evolve(block, arguments=_replaced(block.arguments, old, new)) if isinstance(block, ToolCall) else block
                for block in each.content
            )
            return evolve(each, content=tuple(content))

        turns = (
            evolve(
                turn,
                prompt=tuple(map(message, turn.prompt)),
                answers=list(map(answer, turn.answers)),
                steered={count: list(map(message, sent)) for count, sent in turn.steered.items()},
            )
            for turn in self.turns
        )
        return evolve(self, turns=tuple(turns))

    @classmethod
    def of(cls, session: SessionView, until: str | None = None) -> Recording:
        """Return the part of a session that is replayed: its branch after the last compaction.

        Args:
            session: The session.
            until: The entry whose prompt is the last one; an entry of another branch selects that branch.

        Raises:
            UserError: There is no such entry, or no prompt to replay.
        """
        entries = _branch(session, until)
        turns = _turns(entries)
        if until is not None:
            at = {each.id: place for place, each in enumerate(entries)}
            turns = [each for each in turns if at[each.entry] <= at[until]]
            later = [each.entry for each in _turns(entries) if at[each.entry] > at[until]]
            entries = entries[: at[later[0]]] if later else entries
        places = [place for place, each in enumerate(entries) if each.type == "compaction"]
        if not places:
            return cls(_some(turns, "It has no prompt that was answered"))
        after = {each.id for each in entries[places[-1] :]}
        turns = [each for each in turns if each.entry in after]
        why = f"Nothing follows its last compaction, {entries[places[-1]].id}"
        return cls(_some(turns, f"{why}; give --until ENTRY to replay what was before it"), entries[places[-1]].id)


def _replaced(value: Any, old: str, new: str) -> Any:
    """Return a value with a path replaced in all texts; ``/a/b`` is not found in ``/a/bc``."""
    if isinstance(value, str):
        return re.sub(rf"{re.escape(old)}(?![\w.-])", lambda _: new, value)
    if isinstance(value, dict):
        return {key: _replaced(each, old, new) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_replaced(each, old, new) for each in value)
    return evolve(value, text=_replaced(value.text, old, new)) if getattr(value, "type", None) == "text" else value


def _branch(session: SessionView, until: str | None) -> Sequence[SessionEntry]:
    entries = session.branch()
    if until is None or any(each.id == until for each in entries):
        return entries
    if session.entry(until) is None:
        raise UserError(
            f"--until {until!r}: the session has no such entry. pi export shows the session with its entries"
        )
    return session.branch(until)


def _some(turns: Sequence[Turn], otherwise: str) -> tuple[Turn, ...]:
    if not turns:
        raise UserError(f"The session cannot be replayed. {otherwise}.")
    return tuple(turns)


def _turns(entries: Iterable[SessionEntry]) -> list[Turn]:
    turns = _Turns()
    for entry in entries:
        turns.take(entry)
    return [each for each in turns.turns if each.answers]


class _Turns:
    """Groups the entries of a branch into turns."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self._before: list[AgentMessage] = []
        self._model: tuple[str, str] | None = None
        self._level: str | None = None
        self._is_answering = False

    def take(self, entry: Any) -> None:
        if entry.type == "model_change":
            self._model = entry.provider, entry.model_id
        elif entry.type == "thinking_level_change":
            self._level = entry.thinking_level
        elif entry.type == "message":
            self._message(entry.id, entry.message)

    def _message(self, entry: str, message: Any) -> None:
        if isinstance(message, UserMessage):
            self._user(entry, evolve(message, timestamp=now_ms()))
        elif isinstance(message, AssistantMessage) and self.turns:
            self._answer(self.turns[-1], message)
        elif isinstance(message, ToolResultMessage) and self.turns:
            self.turns[-1].results.setdefault(message.tool_call_id, []).append(message)
        elif message.role == "bashExecution":
            self._before.append(message)

    def _user(self, entry: str, message: UserMessage) -> None:
        if self._is_answering:
            turn = self.turns[-1]
            turn.steered.setdefault(len(turn.answers), []).append(message)
            return
        prompt = (*self._before, message)
        self._before = []
        self.turns.append(Turn(entry, prompt, self._model, self._level))

    def _answer(self, turn: Turn, message: AssistantMessage) -> None:
        self._is_answering = message.stop_reason == "toolUse"
        turn.was_cut_off = message.stop_reason in ("aborted", "error")
        if not turn.was_cut_off:
            turn.answers.append(message)
            turn.model = turn.model if len(turn.answers) > 1 else (message.provider, message.model)

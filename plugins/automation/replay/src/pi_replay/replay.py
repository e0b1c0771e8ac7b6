"""Sends the recorded prompts to a session, and compares its calls with the recording."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_core import error_text
from pi_hookspecs import AssistantMessage, UserError
from pi_replay.compare import Divergence, Report, Row
from pi_replay.recording import key_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_core import AgentSession
    from pi_hookspecs import MessageEndEvent
    from pi_replay.recording import Recording, Turn
    from pi_replay.tools import RecordedTools

__all__ = ["Replay"]


class Replay:
    """Replays a recording in a session.

    Args:
        session: A started session, with ``tools`` among its plugins.
        recording: The prompts.
        tools: Answers the calls from the recording; None if tools really run.
        changes_models: Whether each prompt is sent to the model that it was recorded with.
        say: Called with a line about each completed prompt.
    """

    def __init__(
        self,
        session: AgentSession,
        recording: Recording,
        tools: RecordedTools | None,
        *,
        changes_models: bool,
        say: Callable[[Row], object] = bool,
    ) -> None:
        self._session = session
        self._recording = recording
        self._tools = tools
        self._changes_models = changes_models
        self._say = say
        self._known = {key_of(call) for turn in recording.turns for call in turn.calls}
        self._row: Row | None = None
        self.report = Report()

    async def run(self) -> Report:
        """Replay the prompts in order; stop at a failed request and, with recorded tools, at the first divergence."""
        stop = self._session.subscribe(self._on_message, "message_end")
        try:
            for number, turn in enumerate(self._recording.turns, 1):
                if not await self._replay(number, turn):
                    break
        finally:
            stop()
        return self.report

    async def _replay(self, number: int, turn: Turn) -> bool:
        """Replay one prompt; return whether the next one can follow."""
        if self._changes_models:
            await self._change_model(turn)
        self._row = row = Row(number, turn)
        self.report.rows.append(row)
        await self._session.prompt(turn.prompt)
        self._say(row)
        if row.error is not None:
            self.report.error = f"Prompt {number} failed: {row.error}"
        return row.error is None and (self._tools is None or self.report.divergence is None)

    async def _change_model(self, turn: Turn) -> None:
        session, wanted = self._session, turn.model
        if wanted is not None and (session.model is None or (session.model.provider, session.model.id) != wanted):
            model = session.models.get_model(*wanted)
            if model is None:
                name = "/".join(wanted)
                raise UserError(
                    f"The session used the model {name!r}, which is unknown. Choose another one with --model"
                )
            session.models.check(model)
            await session.set_model(model, persist=False)
        if turn.level is not None and turn.level != session.thinking_level:
            level: Any = turn.level
            await session.set_thinking_level(level, persist=False)

    def _on_message(self, event: MessageEndEvent) -> None:
        message, row = event.message, self._row
        if row is None or not isinstance(message, AssistantMessage):
            return
        if message.stop_reason in ("error", "aborted"):
            if message.stop_reason == "error" and not row.turn.was_cut_off:
                row.error = error_text(message.error_message or "the request failed").sentences
            return
        row.error = None  # of a request that was repeated
        row.answers.append(message)
        self._steer(row)
        self._check(message, row)

    def _steer(self, row: Row) -> None:
        for each in row.turn.steered.get(len(row.answers), ()):
            self._session.agent.steer(each)

    def _check(self, message: AssistantMessage, row: Row) -> None:
        """Compare the calls of an answer with the recording before they run."""
        turn = row.turn
        first, was_interrupted = self._first_unknown(message)
        if turn.was_cut_off and (was_interrupted or len(row.answers) > len(turn.answers)):
            self._session.parts.lifecycle.request_abort("The recorded prompt was cut off here")
            return
        if first is None or self.report.divergence is not None:
            return
        place = sum(len(each.tool_calls) for each in row.answers[:-1]) + first
        recorded = turn.calls[place] if place < len(turn.calls) else None
        self.report.divergence = Divergence(row.number, turn.entry, message.tool_calls[first], recorded)
        if self._tools is not None:
            self._session.parts.lifecycle.request_abort("The replay has left the recording")

    def _first_unknown(self, message: AssistantMessage) -> tuple[int | None, bool]:
        if self._tools is not None:
            return self._tools.prepare(message)
        unknown = (number for number, call in enumerate(message.tool_calls) if key_of(call) not in self._known)
        return next(unknown, None), False

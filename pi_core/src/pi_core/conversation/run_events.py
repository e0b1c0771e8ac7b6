"""What happens at each event of a run, in this order: its hook is called, a message stored, subscribers called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from pi_core.conversation.event_copies import copy_event
from pi_hookspecs import AgentEndEvent, AssistantMessage, MessageEndEvent

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from pi_core.conversation.session import AgentSession
    from pi_hookspecs import AbortSignal, AgentEvent

__all__ = ["RunEvents"]

_NOTIFIED_BY_BRIDGE = frozenset({"message_end", "turn_end"})
"""Hooks that have an answer; ``HookBridge`` calls them while the loop waits for it."""


class RunEvents:
    """Handles the events of a session's agent."""

    def __init__(self, session: AgentSession) -> None:
        self._session = session
        self._answer_id: str | None = None

    @property
    def last_answer_id(self) -> str | None:
        """Id of the entry that holds the last answer of this process."""
        return self._answer_id

    def on_event(self, event: AgentEvent, signal: AbortSignal) -> Awaitable[None]:
        """Handle one event. A delta that no hook is called for goes straight to the session's subscribers."""
        session = self._session
        if event.type == "message_update" and "message_update" not in session.hooks.implemented:
            return session.listeners.emit(event, signal)
        return self._handle(event, signal)

    async def _handle(self, event: AgentEvent, signal: AbortSignal) -> None:
        session, kind = self._session, event.type
        if isinstance(event, AgentEndEvent):
            event = evolve(event, will_retry=session.retry.consider(session.last_answer()))
        if kind not in _NOTIFIED_BY_BRIDGE:
            if kind == "message_start" and not isinstance(event.message, AssistantMessage):  # type: ignore[union-attr]
                session.sending.tell_queues()
            if kind == "agent_start":
                self._forward_abort(signal)
            await self._notify(event)
        elif isinstance(event, MessageEndEvent):
            entry_id = session.session_manager.append_message(event.message)
            if session.call is not None:
                session.call.add(event.message)
            if isinstance(event.message, AssistantMessage):
                self._answer_id = entry_id
        else:
            session.session_manager.sync()
        await session.listeners.emit(event, signal)
        if isinstance(event, MessageEndEvent) and isinstance(event.message, AssistantMessage):
            await self._note_recovery(event.message)

    async def _notify(self, event: AgentEvent) -> None:
        session = self._session
        if event.type == "turn_start":
            session.settings.refresh()
        if event.type in session.hooks.implemented:
            await session.hooks.notify(copy_event(event), session.ctx)
        if event.type == "turn_start":
            session.prompt_record.update()  # hooks may have changed what the turn's request is made of

    async def _note_recovery(self, answer: AssistantMessage) -> None:
        if answer.stop_reason not in ("error", "aborted"):
            await self._session.retry.succeeded()

    def _forward_abort(self, signal: AbortSignal) -> None:
        """Let the prompt's abort end its run, and the run's abort end the hooks that are running."""
        session = self._session
        signal.on_abort(lambda: session.hooks.abort(signal))
        stop = session.prompt_signal
        if stop is not None:
            stop.on_abort(lambda: session.agent.abort(stop.reason or ""))

"""``Transcript``: the only module that adds to a conversation: to the agent, the session's tree and the events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import AssistantMessage, MessageEndEvent, MessageStartEvent, now_ms

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_core.agent.agent import Agent
    from pi_core.agent.subscribers import Subscribers
    from pi_core.conversation.admission import Admission
    from pi_core.session import SessionManager
    from pi_hookspecs import AbortSignal, AgentMessage, CustomMessage, NewEntry, SessionEntry

__all__ = ["Transcript"]


class Transcript:
    """Adds messages to a conversation, and removes them from the model's context.

    Args:
        agent: Sends the messages to the model.
        manager: Stores them in the session's tree.
        events: The subscribers.
        admission: Admits messages that no run adds.
    """

    def __init__(self, agent: Agent, manager: SessionManager, events: Subscribers, admission: Admission) -> None:
        self._agent = agent
        self._admission = admission
        self._manager = manager
        self._events = events
        self._deferred: list[AgentMessage] = []
        self._answer_id: str | None = None

    async def append(self, message: AgentMessage, signal: AbortSignal | None = None) -> None:
        """Add a message and emit ``message_start`` and ``message_end`` for it."""
        message = await self._admission.admit(message)
        await self._events.emit(MessageStartEvent(message=message), signal)
        self.keep(message)
        await self._events.emit(MessageEndEvent(message=message), signal)

    def keep(self, message: AgentMessage) -> None:
        """Add a message without events."""
        self._agent.append_message(message)
        self._manager.append_message(message)

    def defer(self, message: AgentMessage) -> None:
        """Add a message without events when ``keep_deferred`` is called, after the current answer."""
        self._deferred.append(message)

    def keep_deferred(self) -> None:
        """Add the messages that were deferred."""
        deferred, self._deferred = self._deferred, []
        for message in deferred:
            self.keep(message)

    async def append_entries(self, entries: Iterable[NewEntry], signal: AbortSignal | None) -> None:
        """Append entries that plugins requested; the model gets entries with content in its next request."""
        for entry in entries:
            if entry.content is None:
                self._manager.append_custom_entry(entry.custom_type, entry.data)
            else:
                await self.append(_custom_message(entry), signal)

    def emit_entry(self, entry: SessionEntry) -> None:
        """Emit ``entry_appended`` for an entry without message events."""
        if entry.type != "message":
            from pi_hookspecs import EntryAppendedEvent

            self._events.emit_nowait(EntryAppendedEvent(entry=entry))

    def record(self, message: AgentMessage) -> None:
        """Store a message of a run that the agent itself has added."""
        entry_id = self._manager.append_message(message)
        if isinstance(message, AssistantMessage):
            self._answer_id = entry_id

    def last_answer(self) -> AssistantMessage | None:
        """Return the last assistant message of the context; None before the first."""
        for message in reversed(self._agent.state.messages):
            if isinstance(message, AssistantMessage):
                return message
        return None

    def last_text(self) -> str | None:
        """Return the last answer's text; see ``AgentSession.get_last_assistant_text``."""
        answers = (each for each in reversed(self._agent.state.messages) if isinstance(each, AssistantMessage))
        last = next((each for each in answers if each.stop_reason == "stop" or each.text.strip()), None)
        return (last.text.strip() or None) if last is not None else None

    def take_branch(self) -> None:
        """Use the current content of the session's branch in the model's next request."""
        self._agent.replace_messages(self._manager.conversation())

    def drop_failed_answer(self) -> None:
        """Remove the failed or truncated answer from the model's context; the session keeps it."""
        answer = self.last_answer()
        if self._answer_id is not None and answer is not None and answer.stop_reason in ("error", "aborted", "length"):
            self._manager.append_context_edit(self._answer_id, None)
            self.take_branch()


def _custom_message(entry: NewEntry) -> CustomMessage:
    """Return the message of an entry that belongs in the model's context."""
    from pi_hookspecs import CustomMessage

    content: Any = entry.content or ""
    return CustomMessage(
        custom_type=entry.custom_type,
        content=content,
        display=entry.display,
        details=entry.data,
        timestamp=now_ms(),
        plugin=entry.plugin,
    )

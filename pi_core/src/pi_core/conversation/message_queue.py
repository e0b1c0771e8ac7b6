"""The message queues: steering and follow-up messages for the current run, and messages for the next prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pi_hookspecs  # rarer events are loaded on first use
from pi_hookspecs import AgentBusy, TextContent, UserMessage, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_core.agent.queue import QueueMode
    from pi_core.conversation.runtime import Runtime
    from pi_hookspecs import AgentMessage, CustomMessage, ImageContent

__all__ = ["MessageQueue", "user_message"]


class MessageQueue:
    """Queues messages, and emits ``queue_update`` when a queue changes.

    Args:
        runtime: The objects that all parts share.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._next_turn: list[CustomMessage] = []
        self._emitted: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        self._came_after_abort = False

    def add(self, messages: Sequence[AgentMessage], behavior: Literal["steer", "followUp"] | None) -> None:
        """Queue messages for the current run.

        Raises:
            AgentBusy: ``behavior`` is None.
        """
        if behavior is None:
            raise AgentBusy(
                "Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message."
            )
        agent, signal = self._runtime.agent, self._runtime.signal
        self._came_after_abort = self._came_after_abort or (signal is not None and signal.aborted)
        for message in messages:
            (agent.steer if behavior == "steer" else agent.follow_up)(message)
        self.emit_update()

    def owes_answer(self) -> bool:
        """Whether messages are queued that came after the abort of the prompt that has just ended; asked once."""
        came, self._came_after_abort = self._came_after_abort, False
        return came and self._runtime.agent.has_queued_messages()

    def add_for_next_turn(self, message: CustomMessage) -> None:
        """Queue a message for the user's next prompt."""
        self._next_turn.append(message)

    def take_for_next_turn(self) -> list[CustomMessage]:
        """Remove and return the messages for the user's next prompt."""
        waiting, self._next_turn = self._next_turn, []
        return waiting

    def texts(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the texts of the queued messages: steering, follow-ups."""
        steering, follow_up = self._runtime.agent.peek_queued_messages()
        return tuple(map(_text, steering)), tuple(map(_text, follow_up))

    def steering_texts(self) -> tuple[str, ...]:
        """Return the texts of the steering queue."""
        return self.texts()[0]

    def follow_up_texts(self) -> tuple[str, ...]:
        """Return the texts of the follow-up queue."""
        return self.texts()[1]

    @property
    def count(self) -> int:
        """The number of queued messages."""
        return sum(map(len, self._runtime.agent.peek_queued_messages()))

    def set_steering_mode(self, mode: QueueMode) -> None:
        """Set how many steering messages are delivered at a time in this session."""
        self._runtime.agent.steering_mode = mode

    def set_follow_up_mode(self, mode: QueueMode) -> None:
        """Set how many follow-ups are delivered at a time in this session."""
        self._runtime.agent.follow_up_mode = mode

    def clear(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Clear both queues and return their texts."""
        queued = self.texts()
        self.clear_all()
        return queued

    def take_user_texts(self) -> list[str]:
        """Remove the user's messages from both queues and return their texts; messages of plugins stay queued."""
        agent = self._runtime.agent
        steering, follow_up = agent.peek_queued_messages()
        queued = (*steering, *follow_up)
        if not any(each.role == "user" for each in queued):
            return []
        agent.clear_all_queues()
        for messages, add in ((steering, agent.steer), (follow_up, agent.follow_up)):
            for each in messages:
                if each.role != "user":
                    add(each)
        self.emit_update()
        return [text for each in queued if isinstance(each, UserMessage) and (text := each.text)]

    def take_one(self, queue: Literal["steer", "followUp"], place: int) -> AgentMessage | None:
        """Remove the message at a place of a queue and return it; None if the queue has no such place."""
        agent = self._runtime.agent
        queued = agent.peek_queued_messages()[0 if queue == "steer" else 1]
        if not 0 <= place < len(queued):
            return None
        clear, add = (
            (agent.clear_steering_queue, agent.steer)
            if queue == "steer"
            else (agent.clear_follow_up_queue, agent.follow_up)
        )
        clear()
        for each in (*queued[:place], *queued[place + 1 :]):
            add(each)
        self.emit_update()
        return queued[place]

    def clear_steering(self) -> list[AgentMessage]:
        """Clear the steering queue and return its messages."""
        dropped = self._runtime.agent.clear_steering_queue()
        self.emit_update()
        return dropped

    def clear_follow_up(self) -> list[AgentMessage]:
        """Clear the follow-up queue and return its messages."""
        dropped = self._runtime.agent.clear_follow_up_queue()
        self.emit_update()
        return dropped

    def clear_all(self) -> list[AgentMessage]:
        """Clear both queues and return their messages, steering first."""
        dropped = self._runtime.agent.clear_all_queues()
        self.emit_update()
        return dropped

    def reset(self) -> None:
        """Clear all queues at the end of a conversation."""
        self._next_turn.clear()
        self.clear()

    def emit_update(self) -> None:
        """Emit ``queue_update`` if the queues have changed."""
        queued = steering, follow_up = self.texts()
        if queued != self._emitted:
            self._emitted = queued
            self._runtime.events.emit_nowait(pi_hookspecs.QueueUpdateEvent(steering=steering, follow_up=follow_up))


def user_message(text: str, images: Sequence[ImageContent] = ()) -> UserMessage:
    """Return a text and images of the user as a message."""
    return UserMessage(content=(TextContent(text), *images))


def _text(message: AgentMessage) -> str:
    return text_of(getattr(message, "content", ""))

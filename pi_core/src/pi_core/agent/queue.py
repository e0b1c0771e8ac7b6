"""Queues of messages that are delivered between turns, one at a time or all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from pi_hookspecs import AgentMessage

__all__ = ["MessageQueue", "QueueMode"]

QueueMode: TypeAlias = Literal["one-at-a-time", "all"]


class MessageQueue:
    """A FIFO queue. Messages that were drained but not delivered, because the run ended, can be put back."""

    def __init__(self, mode: QueueMode) -> None:
        self.mode = mode
        self._queued: list[AgentMessage] = []
        self._in_flight: list[AgentMessage] = []

    def __bool__(self) -> bool:
        return bool(self._queued)

    def put(self, message: AgentMessage) -> None:
        """Append a message."""
        self._queued.append(message)

    def drain(self) -> list[AgentMessage]:
        """Remove and return the messages that are due: the oldest one, or all of them."""
        due = self._queued if self.mode == "all" else self._queued[:1]
        self._queued = self._queued[len(due) :]
        self._in_flight += due
        return due

    def mark_delivered(self, message: AgentMessage) -> None:
        """Record that a drained message was delivered."""
        if self._in_flight:
            self._in_flight = [each for each in self._in_flight if each is not message]

    def replace(self, message: AgentMessage, by: AgentMessage) -> None:
        """Put another message in the place of a drained one that was not delivered yet."""
        self._in_flight = [by if each is message else each for each in self._in_flight]

    def put_back(self) -> None:
        """Put the drained messages that were not delivered back, at the head of the queue."""
        self._queued = self._in_flight + self._queued
        self._in_flight = []

    def clear(self) -> list[AgentMessage]:
        """Remove and return all queued messages."""
        queued, self._queued = self._queued, []
        return queued

    def peek(self) -> tuple[AgentMessage, ...]:
        """Return the queued messages without removing them."""
        return tuple(self._queued)

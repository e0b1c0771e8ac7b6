"""Messages that wait for their turn: the oldest alone, or all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from pi_hookspecs import AgentMessage

__all__ = ["MessageQueue", "QueueMode"]

QueueMode: TypeAlias = Literal["one-at-a-time", "all"]


class MessageQueue:
    """First in, first out. What was drained and then not delivered, because the run ended, can be put back."""

    def __init__(self, mode: QueueMode) -> None:
        self.mode = mode
        self._waiting: list[AgentMessage] = []
        self._on_the_way: list[AgentMessage] = []

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def put(self, message: AgentMessage) -> None:
        """Let a message wait."""
        self._waiting.append(message)

    def drain(self) -> list[AgentMessage]:
        """Take what is due: the oldest message, or all."""
        due = self._waiting if self.mode == "all" else self._waiting[:1]
        self._waiting = self._waiting[len(due) :]
        self._on_the_way += due
        return due

    def delivered(self, message: AgentMessage) -> None:
        """Note that a drained message has arrived."""
        if self._on_the_way:
            self._on_the_way = [each for each in self._on_the_way if each is not message]

    def put_back(self) -> None:
        """Let what was drained and has not arrived wait again, before all others."""
        self._waiting = self._on_the_way + self._waiting
        self._on_the_way = []

    def clear(self) -> list[AgentMessage]:
        """Take all that waits."""
        waiting, self._waiting = self._waiting, []
        return waiting

    def peek(self) -> tuple[AgentMessage, ...]:
        """Return what waits and leave it there."""
        return tuple(self._waiting)

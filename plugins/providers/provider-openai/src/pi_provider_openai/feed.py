"""Base classes of the readers of both APIs, which convert one event after another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_provider_kit import AnswerBuilder
from pi_provider_openai.shared import loads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_hookspecs.content import ToolCall
    from pi_hookspecs.models import Model
    from pi_hookspecs.stream import AssistantMessageEvent

__all__ = ["Answer", "Feeder"]


class Answer(AnswerBuilder):
    """A builder whose blocks can be changed later, because hosts send some data only at the end of a block."""

    def received(self, index: int) -> str:
        """Return the text of a block so far."""
        return "".join(self._blocks[index].parts)

    def replace(self, index: int, text: str) -> None:
        """Replace the text of an open block."""
        self._blocks[index].parts[:] = [text]

    def change(self, index: int, **fields: Any) -> None:
        """Change fields of a closed block."""
        content = self._blocks[index].finished
        if content is not None:
            self._blocks[index].finished = evolve(content, **fields)

    def call(self, index: int) -> ToolCall:
        """Return a closed call."""
        call: Any = self._blocks[index].finished
        return call  # type: ignore[no-any-return] # the block at the index


class Feeder(ABC):
    """Converts an API's events to ours. It is independent of the transport."""

    def __init__(self, model: Model) -> None:
        self.builder = Answer(model)
        self.finished = False
        """Whether the answer is complete."""
        self._started = False

    def feed(self, data: bytes) -> Iterator[AssistantMessageEvent]:
        """Yield what one event (the data of a server-sent event) adds.

        Raises:
            RequestFailed: The event reports a failure, or is invalid.
        """
        if self.finished:
            return
        if not self._started:
            self._started = True
            yield self.builder.start()
        if data.strip() == b"[DONE]":
            yield from self.end()
            return
        event = loads(data)
        if isinstance(event, dict):
            yield from self.take(event)

    @abstractmethod
    def take(self, event: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        """Yield the events for one parsed event.

        Raises:
            RequestFailed: The event reports a failure, or is invalid.
        """
        ...

    @abstractmethod
    def end(self) -> Iterator[AssistantMessageEvent]:
        """Yield the remaining events at the end of the stream.

        Raises:
            RequestFailed: The answer is not complete.
        """
        ...

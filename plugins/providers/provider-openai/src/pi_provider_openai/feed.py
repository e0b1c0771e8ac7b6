"""Base classes of the readers of both APIs, which convert one event after another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_provider_kit import AnswerBuilder, EventReader
from pi_provider_openai.shared import loads

if TYPE_CHECKING:
    from pi_hookspecs.content import ToolCall
    from pi_hookspecs.models import Model

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


class Feeder(EventReader):
    """Converts the events of either API; see ``EventReader``. It is independent of the transport."""

    builder: Answer

    def __init__(self, model: Model) -> None:
        super().__init__(Answer(model))

    def parse(self, data: bytes) -> Any:
        """Return an event's JSON."""
        return loads(data)

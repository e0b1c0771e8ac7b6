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


_WORDS = (b"true", b"false")


class Answer(AnswerBuilder):
    """A builder whose blocks can be changed later, because hosts send some data only at the end of a block."""

    @property
    def has_content(self) -> bool:
        """Whether there is a block with text, or a complete or begun call."""
        return any(block.parts or block.finished is not None or block.kind == "toolCall" for block in self._blocks)

    @property
    def has_calls(self) -> bool:
        """Whether there is a complete call."""
        return any(block.kind == "toolCall" and block.finished is not None for block in self._blocks)

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
        """Return an event's JSON; a text that is none is an error of what is between pi and the host."""
        return (
            [{"error": data.decode("utf-8", "replace")}] if data[:1].isalpha() and data not in _WORDS else loads(data)
        )

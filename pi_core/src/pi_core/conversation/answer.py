"""``Answer``: the text that a program gets for a prompt, with its data, its cost and its messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import AgentMessage, Usage

__all__ = ["Answer"]

OutputT = TypeVar("OutputT")

_SHOWN = 60
"""Maximum number of characters of the text in ``repr``."""


class Answer(str, Generic[OutputT]):
    """The text of an answer, with additional attributes; otherwise an ordinary ``str``. It is immutable.

    Attributes:
        output: The value of the requested ``output_type``; the text itself if no type was requested.
        usage: Tokens and US dollars of all requests that the prompt caused, including those inside tools and for
            summaries.
        messages: The messages that the prompt added to the conversation, in order: the prompt, answers, tool results.
    """

    __slots__ = ("messages", "output", "usage")

    output: OutputT
    usage: Usage
    messages: tuple[AgentMessage, ...]

    def __new__(
        cls, text: str, *, output: OutputT, usage: Usage, messages: Sequence[AgentMessage] = ()
    ) -> Answer[OutputT]:
        """Create an answer from its text and attributes."""
        answer = super().__new__(cls, text)
        for name, value in (("output", output), ("usage", usage), ("messages", tuple(messages))):
            object.__setattr__(answer, name, value)
        return answer

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"An Answer cannot be changed: {name!r} was not set to {value!r:.80}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"An Answer cannot be changed: {name!r} was not deleted")

    def __repr__(self) -> str:
        text = f"{self[:_SHOWN]}..." if len(self) > _SHOWN else str(self)
        same = isinstance(self.output, str) and self.output == str(self)
        output = "" if same else f", output={self.output!r:.200}"
        return f"{type(self).__name__}({text!r}{output})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), str(self), self.output, self.usage, self.messages)


def _rebuilt(cls: Any, text: str, output: Any, usage: Usage, messages: tuple[AgentMessage, ...]) -> Any:
    """Recreate a copied or pickled answer."""
    return cls(text, output=output, usage=usage, messages=messages)

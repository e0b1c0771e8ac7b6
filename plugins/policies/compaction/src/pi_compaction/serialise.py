"""A conversation as plain text for the summariser, shortened to fit the model's window."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pi_core import convert_to_llm
from pi_hookspecs import AssistantMessage, ImageContent, ToolResultMessage, UserMessage, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pi_hookspecs import AgentMessage, Message, ToolCall

__all__ = ["fitted", "serialise"]

RESULT_CHARS = 2000
"""Characters of a tool's result in the text."""

_LEAST_CHARS = 200


def serialise(messages: Iterable[AgentMessage]) -> list[str]:
    """Return a text for each part of a conversation: ``[User]: ...``, ``[Assistant tool calls]: ...``."""
    return [part for message in convert_to_llm(messages) for part in _parts(message)]


def fitted(parts: Sequence[str], chars: int) -> str:
    """Return the parts as one text of at most about ``chars``.

    Long parts are cut first; where that is not enough, the middle is left out: a conversation's goal is at its
    beginning, and its current state at its end.
    """
    text, longest = "\n\n".join(parts), max(map(len, parts), default=0)
    while len(text) > chars and longest > _LEAST_CHARS:
        longest = max(longest // 2, _LEAST_CHARS)
        text = "\n\n".join([part if len(part) <= longest else _cut(part, longest) for part in parts])
    return text if len(text) <= chars else _without_middle(text, chars)


def _parts(message: Message) -> Iterator[str]:
    if isinstance(message, AssistantMessage):
        if text := message.text.strip():
            yield f"[Assistant]: {text}"
        if message.tool_calls:
            yield f"[Assistant tool calls]: {'; '.join(map(_call, message.tool_calls))}"
    elif isinstance(message, ToolResultMessage):
        if text := _content(message.content):
            yield f"[Tool result]: {_cut(text, RESULT_CHARS)}"
    elif isinstance(message, UserMessage) and (text := _content(message.content)):
        yield f"[User]: {text}"


def _call(call: ToolCall) -> str:
    arguments = (
        f"{name}={json.dumps(value, ensure_ascii=False, default=str)}" for name, value in call.arguments.items()
    )
    return f"{call.name}({', '.join(arguments)})"


def _content(content: Any) -> str:
    """Return the text, with a placeholder for each image."""
    images = 0 if isinstance(content, str) else sum(isinstance(block, ImageContent) for block in content)
    return "\n".join(filter(None, [text_of(content).strip(), *["(image)"] * images]))


def _cut(text: str, chars: int) -> str:
    more = len(text) - chars
    return text if more <= 0 else f"{text[:chars]}\n\n[... {more} more characters truncated]"


def _without_middle(text: str, chars: int) -> str:
    half = max(chars // 2, 1)
    return f"{text[:half]}\n\n[... {len(text) - 2 * half} characters left out]\n\n{text[-half:]}"

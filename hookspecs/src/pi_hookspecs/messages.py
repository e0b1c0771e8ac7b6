"""Messages of a conversation, their cost and stop reason.

Times are Unix milliseconds, money is US dollars. Values are frozen: to change a message, make
another with ``attrs.evolve``. Less common messages are in ``rare_messages``.
"""

from __future__ import annotations

import time
from typing import Any, Literal, TypeAlias

from attrs import Factory

from pi_hookspecs.content import Content, ImageContent, TextContent, ThinkingContent, ToolCall, UnknownContent
from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.values import Value, nothing_more

__all__ = [
    "AssistantMessage",
    "Cost",
    "Message",
    "StopReason",
    "SystemMessage",
    "ToolResultMessage",
    "Usage",
    "UserMessage",
    "now_ms",
    "text_of",
]

StopReason: TypeAlias = Literal["stop", "length", "toolUse", "error", "aborted", "pending", "deferred"]
"""Why an answer ended. ``pending`` occurs only in partials while streaming, never in a stored message."""

UserContent: TypeAlias = TextContent | ImageContent | UnknownContent
AssistantContent: TypeAlias = TextContent | ThinkingContent | ToolCall | ImageContent | UnknownContent
"""A block of an answer; images are in answers of image models only."""


def now_ms() -> int:
    """Return the time in Unix milliseconds, as every timestamp on the wire is."""
    return time.time_ns() // 1_000_000


def text_of(content: str | tuple[Any, ...]) -> str:
    """Return the text of a message's content: its text blocks joined by newlines, other blocks left out."""
    if isinstance(content, str):
        return content
    return "\n".join(block.text for block in content if isinstance(block, TextContent))


@frozen(kw_only=True, eq=False, repr=False)
class Cost(Value):
    """US dollars, per class of tokens and in total."""

    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0
    total: float = 0.0
    total_from_provider: bool | None = None
    extra: dict[str, Any] = Factory(nothing_more)

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            input=self.input + other.input,
            output=self.output + other.output,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            total=self.total + other.total,
        )


@frozen(kw_only=True, eq=False, repr=False)
class Usage(Value):
    """Tokens of a request. ``input`` excludes tokens read from the cache; ``reasoning`` is part of ``output``."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    total_tokens: int = 0
    cost: Cost = Factory(Cost)
    cache_write_1h: int | None = None
    reasoning: int | None = None
    extra: dict[str, Any] = Factory(nothing_more)

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            total_tokens=self.total_tokens + other.total_tokens,
            cost=self.cost + other.cost,
        )


@frozen(kw_only=True, eq=False, repr=False)
class UserMessage(Value):
    """A message of the user: a string, or text and images."""

    content: str | tuple[UserContent, ...]
    timestamp: int = field(factory=now_ms)
    role: Literal["user"] = "user"
    extra: dict[str, Any] = Factory(nothing_more)

    @property
    def text(self) -> str:
        """All text of the message."""
        return text_of(self.content)


@frozen(kw_only=True, eq=False, repr=False)
class AssistantMessage(Value):
    """An answer of the model, or the error of its request (``stop_reason`` ``error``, ``error_message``)."""

    content: tuple[AssistantContent, ...] = ()
    api: str
    provider: str
    model: str
    usage: Usage = Factory(Usage)
    stop_reason: StopReason = "stop"
    error_message: str | None = None
    response_id: str | None = None
    response_model: str | None = None
    raw_stop_reason: str | None = None
    thinking_level: str | None = None
    duration_ms: int | None = None
    timestamp: int = field(factory=now_ms)
    role: Literal["assistant"] = "assistant"
    extra: dict[str, Any] = Factory(nothing_more)

    @property
    def text(self) -> str:
        """All text of the answer, without thinking and tool calls."""
        return text_of(self.content)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of the answer, in its order."""
        return tuple(block for block in self.content if isinstance(block, ToolCall))


@frozen(kw_only=True, eq=False, repr=False)
class ToolResultMessage(Value):
    """Result of a tool call, for the model (``content``) and for display and programs (``details``)."""

    tool_call_id: str
    tool_name: str
    content: tuple[UserContent, ...] = ()
    details: Any = None
    is_error: bool = False
    usage: Usage | None = None
    duration_ms: int | None = None
    timestamp: int = field(factory=now_ms)
    role: Literal["toolResult"] = "toolResult"
    extra: dict[str, Any] = Factory(nothing_more)

    @property
    def text(self) -> str:
        """All text of the result."""
        return text_of(self.content)


@frozen(kw_only=True, eq=False, repr=False)
class SystemMessage(Value):
    """A system message in the transcript: text for the model, or a record of the system prompt and tools in use.

    A record has at least one of ``sections``, ``tools_added`` and ``tools_removed``. Applied in order, the records of a
    branch give the system prompt and the tools of its next request. pi appends one when these change, and sends none to
    a model.

    Attributes:
        content: Text for the model; empty in a record that pi appends.
        sections: Sections of the system prompt by name, in their order: new or changed ones; None for a removed one.
        tools_added: Declarations of tools that are offered from here on, each with ``name``, ``description`` and
            ``parameters``.
        tools_removed: Objects with the ``name`` of a tool that is no longer offered, or is now declared differently.
    """

    content: str | tuple[Content, ...] = ""
    sections: dict[str, Any] | None = None
    tools_added: tuple[Any, ...] | None = None
    tools_removed: tuple[Any, ...] | None = None
    timestamp: int = field(factory=now_ms)
    role: Literal["system"] = "system"
    extra: dict[str, Any] = Factory(nothing_more)

    @property
    def text(self) -> str:
        """All text for the model."""
        return text_of(self.content)

    @property
    def is_record(self) -> bool:
        """Whether it is a record of system prompt and tools, which is not sent to the model."""
        return not (self.sections is None and self.tools_added is None and self.tools_removed is None)


Message: TypeAlias = UserMessage | AssistantMessage | ToolResultMessage | SystemMessage
"""The messages that providers convert."""

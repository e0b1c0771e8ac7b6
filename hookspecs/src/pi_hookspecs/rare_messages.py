"""Messages that not every conversation has: commands of the user, plugins' messages, summaries.

They are separate from ``messages`` so that a run without them does not have to define them.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from attrs import Factory

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.messages import Message, UserContent, now_ms
from pi_hookspecs.values import Value, nothing_more

__all__ = [
    "AgentMessage",
    "BashExecutionMessage",
    "BranchSummaryMessage",
    "CompactionSummaryMessage",
    "CustomMessage",
    "UnknownMessage",
]


@frozen(kw_only=True, eq=False, repr=False)
class BashExecutionMessage(Value):
    """A command that the user ran with ``!``; ``exclude_from_context`` is ``!!``."""

    command: str
    output: str
    exit_code: int | None = None
    cancelled: bool = False
    truncated: bool = False
    full_output_path: str | None = None
    exclude_from_context: bool | None = None
    timestamp: int = field(factory=now_ms)
    role: Literal["bashExecution"] = "bashExecution"
    extra: dict[str, Any] = Factory(nothing_more)


@frozen(kw_only=True, eq=False, repr=False)
class CustomMessage(Value):
    """A plugin's message. The model sees ``content``; ``display`` is whether the user does.

    Attributes:
        plugin: The plugin that added it in this run of the program, set by pi; it is not stored. None for a message
            that was read from a session's file, or added by a program.
    """

    custom_type: str
    content: str | tuple[UserContent, ...]
    display: bool = True
    details: Any = None
    timestamp: int = field(factory=now_ms)
    role: Literal["custom"] = "custom"
    extra: dict[str, Any] = Factory(nothing_more)
    plugin: str | None = field(default=None, eq=False, metadata={"wire": False})


@frozen(kw_only=True, eq=False, repr=False)
class BranchSummaryMessage(Value):
    """Summary of a branch that the conversation came back from; ``from_id`` is its abandoned leaf."""

    summary: str
    from_id: str
    timestamp: int = field(factory=now_ms)
    role: Literal["branchSummary"] = "branchSummary"
    extra: dict[str, Any] = Factory(nothing_more)


@frozen(kw_only=True, eq=False, repr=False)
class CompactionSummaryMessage(Value):
    """Summary that replaces everything before it; ``tokens_before`` is the size of the context that it replaced."""

    summary: str
    tokens_before: int
    timestamp: int = field(factory=now_ms)
    role: Literal["compactionSummary"] = "compactionSummary"
    extra: dict[str, Any] = Factory(nothing_more)


@frozen(kw_only=True, eq=False, repr=False)
class UnknownMessage(Value):
    """A message of a role that this version does not know; ``extra`` contains everything but the role."""

    role: str
    extra: dict[str, Any] = Factory(nothing_more)


AgentMessage: TypeAlias = (
    Message | BashExecutionMessage | CustomMessage | BranchSummaryMessage | CompactionSummaryMessage | UnknownMessage
)
"""A message of a conversation; ``convert_to_llm`` converts it to a ``Message``, or omits it.

Type-checked code distinguishes messages with ``isinstance``: to a type checker an unknown role may be any string, so
comparing ``role`` narrows nothing. The same holds for content blocks and session entries.
"""

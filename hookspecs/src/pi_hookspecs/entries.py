"""Entries that every session has; the rest is in ``rare_entries``. Ids: 8 hex digits, times: ISO 8601."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from attrs import Factory

from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import Value, nothing_more

if TYPE_CHECKING:
    from pi_hookspecs.rare_messages import AgentMessage

__all__ = [
    "MessageEntry",
    "ModelChangeEntry",
    "SessionHeader",
    "ThinkingLevelChangeEntry",
]


@frozen(kw_only=True, eq=False, repr=False)
class SessionHeader(Value):
    """First line of a session file. ``parent_session`` is the file that it was forked from, or created for."""

    id: str
    timestamp: str
    cwd: str
    parent_session: str | None = None
    version: int = 3
    type: Literal["session"] = "session"
    extra: dict[str, Any] = Factory(nothing_more)


@frozen(kw_only=True, eq=False, repr=False)
class EntryBase(Value):
    """What every entry has: its id, the entry it follows (None for a root), and when it was made."""

    id: str
    parent_id: str | None
    timestamp: str


@frozen(kw_only=True, eq=False, repr=False)
class MessageEntry(EntryBase):
    """A message of the conversation."""

    message: AgentMessage
    type: Literal["message"] = "message"
    extra: dict[str, Any] = Factory(nothing_more)


@frozen(kw_only=True, eq=False, repr=False)
class ModelChangeEntry(EntryBase):
    """Another model is selected."""

    provider: str
    model_id: str
    type: Literal["model_change"] = "model_change"
    extra: dict[str, Any] = Factory(nothing_more)


@frozen(kw_only=True, eq=False, repr=False)
class ThinkingLevelChangeEntry(EntryBase):
    """Another reasoning effort is selected."""

    thinking_level: str
    type: Literal["thinking_level_change"] = "thinking_level_change"
    extra: dict[str, Any] = Factory(nothing_more)

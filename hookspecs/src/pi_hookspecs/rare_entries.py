"""Entries of a session's tree that most sessions do not have: summaries, labels, plugins' data, edits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from attrs import Factory

from pi_hookspecs.deferred import frozen
from pi_hookspecs.entries import EntryBase, MessageEntry, ModelChangeEntry, ThinkingLevelChangeEntry
from pi_hookspecs.values import Value, nothing_more

if TYPE_CHECKING:
    from pi_hookspecs.content import Content
    from pi_hookspecs.messages import Usage, UserContent

__all__ = [
    "BranchSummaryEntry",
    "CompactionEntry",
    "ContextEditEntry",
    "CustomEntry",
    "CustomMessageEntry",
    "EditedContent",
    "LabelEntry",
    "SessionEntry",
    "SessionInfoEntry",
    "UnknownEntry",
    "UsageEntry",
]


@frozen(kw_only=True, eq=False, repr=False)
class CompactionEntry(EntryBase):
    """Replaces everything before ``first_kept_entry_id`` with ``summary`` in the model's context.

    Attributes:
        system_message: All records of system prompt and tools up to here as one, a ``SystemMessage`` as plain data.
    """

    summary: str
    first_kept_entry_id: str
    tokens_before: int
    details: Any = None
    from_hook: bool | None = None
    usage: Usage | None = None
    system_message: dict[str, Any] | None = None
    type: Literal["compaction"] = "compaction"
    extra: dict[str, Any] = Factory(nothing_more)


@frozen(kw_only=True, eq=False, repr=False)
class BranchSummaryEntry(EntryBase):
    """Summary of the branch whose leaf was ``from_id`` (``root`` when there was none)."""

    from_id: str
    summary: str
    details: Any = None
    from_hook: bool | None = None
    usage: Usage | None = None
    type: Literal["branch_summary"] = "branch_summary"
    extra: dict[str, Any] = Factory(nothing_more)


@frozen(kw_only=True, eq=False, repr=False)
class CustomEntry(EntryBase):
    """A plugin's own data; the model does not see it."""

    custom_type: str
    data: Any = None
    type: Literal["custom"] = "custom"
    extra: dict[str, Any] = Factory(nothing_more)


@frozen(kw_only=True, eq=False, repr=False)
class CustomMessageEntry(EntryBase):
    """A plugin's message; the model sees it."""

    custom_type: str
    content: str | tuple[UserContent, ...]
    display: bool = True
    details: Any = None
    type: Literal["custom_message"] = "custom_message"
    extra: dict[str, Any] = Factory(nothing_more)


@frozen(kw_only=True, eq=False, repr=False)
class LabelEntry(EntryBase):
    """Names the entry ``target_id``; without ``label`` the name is removed."""

    target_id: str
    label: str | None = None
    type: Literal["label"] = "label"
    extra: dict[str, Any] = Factory(nothing_more)


@frozen(kw_only=True, eq=False, repr=False)
class SessionInfoEntry(EntryBase):
    """Names the session; the latest applies."""

    name: str | None = None
    type: Literal["session_info"] = "session_info"
    extra: dict[str, Any] = Factory(nothing_more)


@frozen(kw_only=True, eq=False, repr=False)
class UsageEntry(EntryBase):
    """A model request outside the conversation; ``kind`` is its purpose. It counts in the session's cost (newer pi)."""

    kind: str
    provider: str
    model: str
    usage: Usage
    note: str | None = None
    type: Literal["usage"] = "usage"
    extra: dict[str, Any] = Factory(nothing_more)


@frozen(eq=False, repr=False)
class EditedContent(Value):
    """Content that the model sees instead of a message's content."""

    content: str | tuple[Content, ...]
    extra: dict[str, Any] = Factory(nothing_more)


@frozen(kw_only=True, eq=False, repr=False)
class ContextEditEntry(EntryBase):
    """Replaces the content of the entry ``target_id`` for the model with ``replacement``; None leaves the entry out."""

    target_id: str
    replacement: EditedContent | None
    type: Literal["context_edit"] = "context_edit"
    extra: dict[str, Any] = Factory(nothing_more)


@frozen(kw_only=True, eq=False, repr=False)
class UnknownEntry(Value):
    """An entry of a type that this version does not know; kept unchanged."""

    type: str
    id: str
    parent_id: str | None
    timestamp: str = ""
    extra: dict[str, Any] = Factory(nothing_more)


SessionEntry: TypeAlias = (
    MessageEntry
    | ModelChangeEntry
    | ThinkingLevelChangeEntry
    | CompactionEntry
    | BranchSummaryEntry
    | CustomEntry
    | CustomMessageEntry
    | LabelEntry
    | SessionInfoEntry
    | UsageEntry
    | ContextEditEntry
    | UnknownEntry
)
"""Any entry but the header."""

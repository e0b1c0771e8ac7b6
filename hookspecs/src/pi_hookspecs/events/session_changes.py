"""Events before and after a change of the session: switch, fork, compaction, navigation in the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs.abort import AbortSignal
    from pi_hookspecs.rare_entries import BranchSummaryEntry, CompactionEntry, SessionEntry
    from pi_hookspecs.service_values import Compaction, CompactionPreparation, CompactionReason

__all__ = [
    "SessionBeforeCompactEvent",
    "SessionBeforeCompactResult",
    "SessionBeforeForkEvent",
    "SessionBeforeForkResult",
    "SessionBeforeSwitchEvent",
    "SessionBeforeSwitchResult",
    "SessionBeforeTreeEvent",
    "SessionBeforeTreeResult",
    "SessionCompactEvent",
    "SessionCompactFailedEvent",
    "SessionForkEvent",
    "SessionSwitchEvent",
    "SessionTreeEvent",
]


@frozen(kw_only=True, eq=False, repr=False)
class SessionSwitchEvent(ReprMixin):
    """The session has been switched (``session_start`` follows with the same ``reason``)."""

    type: ClassVar[Literal["session_switch"]] = "session_switch"
    on_wire: ClassVar[bool] = False
    reason: Literal["new", "resume"]
    previous_session_file: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class SessionForkEvent(ReprMixin):
    """The session has been forked (``session_start`` follows with the same ``reason``)."""

    type: ClassVar[Literal["session_fork"]] = "session_fork"
    on_wire: ClassVar[bool] = False
    previous_session_file: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class SessionBeforeSwitchEvent(ReprMixin):
    """The user is about to switch to another session."""

    type: ClassVar[Literal["session_before_switch"]] = "session_before_switch"
    reason: Literal["new", "resume"]
    target_session_file: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class SessionBeforeSwitchResult(Value):
    """``cancel=True`` keeps the current session."""

    cancel: bool = False


@frozen(kw_only=True, eq=False, repr=False)
class SessionBeforeForkEvent(ReprMixin):
    """The user is about to fork from an entry, ``before`` it or ``at`` it."""

    type: ClassVar[Literal["session_before_fork"]] = "session_before_fork"
    entry_id: str
    position: Literal["before", "at"] = "before"


@frozen(kw_only=True, eq=False, repr=False)
class SessionBeforeForkResult(Value):
    """``cancel=True`` prevents the fork."""

    cancel: bool = False
    skip_conversation_restore: bool | None = None


@frozen(kw_only=True, eq=False, repr=False)
class SessionBeforeCompactEvent(ReprMixin):
    """The conversation is about to be compacted."""

    type: ClassVar[Literal["session_before_compact"]] = "session_before_compact"
    preparation: CompactionPreparation
    branch_entries: Sequence[SessionEntry] = ()
    custom_instructions: str | None = None
    signal: AbortSignal | None = field(default=None, metadata={"wire": False})
    reason: CompactionReason = "manual"
    will_retry: bool = False


@frozen(kw_only=True, eq=False, repr=False)
class SessionBeforeCompactResult(Value):
    """``cancel=True``, or a compaction made by the plugin."""

    cancel: bool = False
    compaction: Compaction | None = None


@frozen(kw_only=True, eq=False, repr=False)
class SessionCompactEvent(ReprMixin):
    """The conversation has been compacted."""

    type: ClassVar[Literal["session_compact"]] = "session_compact"
    compaction_entry: CompactionEntry
    from_extension: bool = False
    reason: CompactionReason = "manual"
    will_retry: bool = False


@frozen(kw_only=True, eq=False, repr=False)
class SessionCompactFailedEvent(ReprMixin):
    """A compaction failed or was cancelled; the session is unchanged."""

    type: ClassVar[Literal["session_compact_failed"]] = "session_compact_failed"
    reason: CompactionReason
    error_message: str | None = None
    aborted: bool = False
    will_retry: bool = False
    from_extension: bool = False


@frozen(kw_only=True, eq=False, repr=False)
class SessionBeforeTreeEvent(ReprMixin):
    """The user is about to navigate to another entry of the tree."""

    type: ClassVar[Literal["session_before_tree"]] = "session_before_tree"
    target_id: str
    old_leaf_id: str | None
    common_ancestor_id: str | None
    entries_to_summarize: tuple[SessionEntry, ...] = ()
    user_wants_summary: bool = False
    custom_instructions: str | None = None
    replace_instructions: bool = False
    label: str | None = None
    signal: AbortSignal | None = field(default=None, metadata={"wire": False})


@frozen(kw_only=True, eq=False, repr=False)
class SessionBeforeTreeResult(Value):
    """``cancel=True``, a summary made by the plugin, other instructions for the summary, or a label."""

    cancel: bool = False
    summary: str | None = None
    details: Any = None
    custom_instructions: str | None = None
    replace_instructions: bool | None = None
    label: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class SessionTreeEvent(ReprMixin):
    """The conversation continues from another entry of the tree."""

    type: ClassVar[Literal["session_tree"]] = "session_tree"
    on_wire: ClassVar[bool] = False
    new_leaf_id: str | None
    old_leaf_id: str | None
    summary_entry: BranchSummaryEntry | None = None
    from_extension: bool = False

"""What a session tells its subscribers beyond the agent's events; no hook is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from attrs import frozen

from pi_hookspecs.values import Shown

if TYPE_CHECKING:
    from pi_hookspecs.models import ThinkingLevel
    from pi_hookspecs.rare_entries import SessionEntry
    from pi_hookspecs.service_values import Compaction

__all__ = [
    "AutoRetryEndEvent",
    "AutoRetryStartEvent",
    "BashExecutionUpdateEvent",
    "CompactionEndEvent",
    "CompactionStartEvent",
    "EntryAppendedEvent",
    "ExtensionErrorEvent",
    "QueueUpdateEvent",
    "SessionInfoChangedEvent",
    "SummarizationRetryAttemptStartEvent",
    "SummarizationRetryFinishedEvent",
    "SummarizationRetryScheduledEvent",
    "ThinkingLevelChangedEvent",
]


@frozen(kw_only=True, eq=False, repr=False)
class QueueUpdateEvent(Shown):
    """The queues changed; both are told whole, as text."""

    type: ClassVar[Literal["queue_update"]] = "queue_update"
    steering: tuple[str, ...]
    follow_up: tuple[str, ...]


@frozen(kw_only=True, eq=False, repr=False)
class EntryAppendedEvent(Shown):
    """The session grew by an entry that is not a message."""

    type: ClassVar[Literal["entry_appended"]] = "entry_appended"
    entry: SessionEntry


@frozen(kw_only=True, eq=False, repr=False)
class SessionInfoChangedEvent(Shown):
    """The session has another name; None took it away."""

    type: ClassVar[Literal["session_info_changed"]] = "session_info_changed"
    name: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class ThinkingLevelChangedEvent(Shown):
    """The model thinks more or less from now on."""

    type: ClassVar[Literal["thinking_level_changed"]] = "thinking_level_changed"
    level: ThinkingLevel


@frozen(kw_only=True, eq=False, repr=False)
class BashExecutionUpdateEvent(Shown):
    """A command that the user runs has printed more; ``id`` tells which, where its caller named it."""

    type: ClassVar[Literal["bash_execution_update"]] = "bash_execution_update"
    delta: str
    id: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class CompactionStartEvent(Shown):
    """A compaction begins."""

    type: ClassVar[Literal["compaction_start"]] = "compaction_start"
    reason: Literal["manual", "threshold", "overflow"]


@frozen(kw_only=True, eq=False, repr=False)
class CompactionEndEvent(Shown):
    """A compaction is over; ``will_retry`` when the prompt goes on after an overflow."""

    type: ClassVar[Literal["compaction_end"]] = "compaction_end"
    reason: Literal["manual", "threshold", "overflow"]
    result: Compaction | None = None
    aborted: bool = False
    will_retry: bool = False
    error_message: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class AutoRetryStartEvent(Shown):
    """A failed request is repeated after ``delay_ms``."""

    type: ClassVar[Literal["auto_retry_start"]] = "auto_retry_start"
    attempt: int
    max_attempts: int
    delay_ms: int
    error_message: str


@frozen(kw_only=True, eq=False, repr=False)
class AutoRetryEndEvent(Shown):
    """The repeating is over."""

    type: ClassVar[Literal["auto_retry_end"]] = "auto_retry_end"
    success: bool
    attempt: int
    final_error: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class _SummarizationRetryEvent(Shown):
    """What the events of repeating a summary's request share: what it is for, and why a compaction was wanted."""

    source: Literal["compaction", "branchSummary"]
    reason: Literal["manual", "threshold", "overflow"] | None = None


@frozen(kw_only=True, eq=False, repr=False)
class SummarizationRetryScheduledEvent(_SummarizationRetryEvent):
    """The request for a summary failed and will be repeated."""

    type: ClassVar[Literal["summarization_retry_scheduled"]] = "summarization_retry_scheduled"


@frozen(kw_only=True, eq=False, repr=False)
class SummarizationRetryAttemptStartEvent(_SummarizationRetryEvent):
    """It is being repeated."""

    type: ClassVar[Literal["summarization_retry_attempt_start"]] = "summarization_retry_attempt_start"


@frozen(kw_only=True, eq=False, repr=False)
class SummarizationRetryFinishedEvent(_SummarizationRetryEvent):
    """The repeating is over."""

    type: ClassVar[Literal["summarization_retry_finished"]] = "summarization_retry_finished"


@frozen(kw_only=True, eq=False, repr=False)
class ExtensionErrorEvent(Shown):
    """A plugin failed; the run goes on.

    Attributes:
        extension_path: The plugin's name.
        event: The hook, or the step of loading, that failed.
        error: What happened, with the plugin's name and the milliseconds it took.
        stack: Traceback, for people who look.
    """

    type: ClassVar[Literal["extension_error"]] = "extension_error"
    extension_path: str
    event: str
    error: str
    stack: str | None = None
    extra: Any = None

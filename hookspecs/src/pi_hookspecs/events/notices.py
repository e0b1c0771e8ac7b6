"""Events that a session sends only to its subscribers; they have no hook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from pi_hookspecs.models import ThinkingLevel
    from pi_hookspecs.rare_entries import SessionEntry
    from pi_hookspecs.service_values import Compaction
    from pi_hookspecs.virtual_models import RouteReason

__all__ = [
    "AutoRetryEndEvent",
    "AutoRetryStartEvent",
    "BashExecutionUpdateEvent",
    "CompactionEndEvent",
    "CompactionStartEvent",
    "EntryAppendedEvent",
    "ExtensionErrorEvent",
    "ModelDispatchedEvent",
    "QueueUpdateEvent",
    "SessionInfoChangedEvent",
    "SummarizationRetryAttemptStartEvent",
    "SummarizationRetryFinishedEvent",
    "SummarizationRetryScheduledEvent",
    "ThinkingLevelChangedEvent",
]


@frozen(kw_only=True, eq=False, repr=False)
class QueueUpdateEvent(ReprMixin):
    """The queues changed; the event has the text of all messages of both."""

    type: ClassVar[Literal["queue_update"]] = "queue_update"
    steering: tuple[str, ...]
    follow_up: tuple[str, ...]


@frozen(kw_only=True, eq=False, repr=False)
class EntryAppendedEvent(ReprMixin):
    """An entry other than a message was appended to the session."""

    type: ClassVar[Literal["entry_appended"]] = "entry_appended"
    entry: SessionEntry


@frozen(kw_only=True, eq=False, repr=False)
class SessionInfoChangedEvent(ReprMixin):
    """The session's name changed; None means it was removed."""

    type: ClassVar[Literal["session_info_changed"]] = "session_info_changed"
    name: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class ThinkingLevelChangedEvent(ReprMixin):
    """The reasoning effort has changed."""

    type: ClassVar[Literal["thinking_level_changed"]] = "thinking_level_changed"
    level: ThinkingLevel


@frozen(kw_only=True, eq=False, repr=False)
class ModelDispatchedEvent(ReprMixin):
    """A virtual model (``virtual``, as ``provider/id``) sends the conversation's next request to another model.

    ``changed`` if the last answer came from another model, or from the same with another reasoning effort;
    ``context_window`` is that of the model that answers.
    """

    type: ClassVar[Literal["model_dispatched"]] = "model_dispatched"
    virtual: str
    provider: str
    model: str
    thinking_level: ThinkingLevel
    reason: RouteReason
    changed: bool = False
    context_window: int = 0


@frozen(kw_only=True, eq=False, repr=False)
class BashExecutionUpdateEvent(ReprMixin):
    """New output of a command that the user runs; ``id`` identifies it if its caller set one."""

    type: ClassVar[Literal["bash_execution_update"]] = "bash_execution_update"
    delta: str
    id: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class CompactionStartEvent(ReprMixin):
    """A compaction begins."""

    type: ClassVar[Literal["compaction_start"]] = "compaction_start"
    reason: Literal["manual", "threshold", "overflow"]


@frozen(kw_only=True, eq=False, repr=False)
class CompactionEndEvent(ReprMixin):
    """A compaction has ended; ``will_retry`` if the prompt continues after an overflow."""

    type: ClassVar[Literal["compaction_end"]] = "compaction_end"
    reason: Literal["manual", "threshold", "overflow"]
    result: Compaction | None = None
    aborted: bool = False
    will_retry: bool = False
    error_message: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class AutoRetryStartEvent(ReprMixin):
    """A failed request is retried after ``delay_ms``."""

    type: ClassVar[Literal["auto_retry_start"]] = "auto_retry_start"
    attempt: int
    max_attempts: int
    delay_ms: int
    error_message: str


@frozen(kw_only=True, eq=False, repr=False)
class AutoRetryEndEvent(ReprMixin):
    """The retries have ended."""

    type: ClassVar[Literal["auto_retry_end"]] = "auto_retry_end"
    success: bool
    attempt: int
    final_error: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class _SummarizationRetryEvent(ReprMixin):
    """Common fields of the retries of a summary's request: its purpose, and the reason of the compaction."""

    source: Literal["compaction", "branchSummary"]
    reason: Literal["manual", "threshold", "overflow"] | None = None


@frozen(kw_only=True, eq=False, repr=False)
class SummarizationRetryScheduledEvent(_SummarizationRetryEvent):
    """The request for a summary failed and will be retried."""

    type: ClassVar[Literal["summarization_retry_scheduled"]] = "summarization_retry_scheduled"


@frozen(kw_only=True, eq=False, repr=False)
class SummarizationRetryAttemptStartEvent(_SummarizationRetryEvent):
    """The request for a summary is being retried."""

    type: ClassVar[Literal["summarization_retry_attempt_start"]] = "summarization_retry_attempt_start"


@frozen(kw_only=True, eq=False, repr=False)
class SummarizationRetryFinishedEvent(_SummarizationRetryEvent):
    """The retries have ended."""

    type: ClassVar[Literal["summarization_retry_finished"]] = "summarization_retry_finished"


@frozen(kw_only=True, eq=False, repr=False)
class ExtensionErrorEvent(ReprMixin):
    """A plugin failed; the run continues.

    Attributes:
        extension_path: The plugin's name.
        event: The hook, or the step of loading, that failed.
        error: What happened, with the plugin's name and the milliseconds it took; or the message of the ``UserError``
            of a command or shortcut, which is not a failure.
        stack: Traceback, for debugging; None for a ``UserError``.
    """

    type: ClassVar[Literal["extension_error"]] = "extension_error"
    extension_path: str
    event: str
    error: str
    stack: str | None = None
    extra: Any = None

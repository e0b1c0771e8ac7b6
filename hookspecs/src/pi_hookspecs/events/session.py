"""Events of a session's life (pi.md 10.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_hookspecs.abort import AbortSignal
    from pi_hookspecs.entries import BranchSummaryEntry, CompactionEntry, SessionEntry
    from pi_hookspecs.services import Compaction, CompactionPreparation, CompactionReason

__all__ = [
    "ProjectTrustEvent",
    "ProjectTrustResult",
    "ResourcesDiscoverEvent",
    "ResourcesDiscoverResult",
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
    "SessionShutdownEvent",
    "SessionStartEvent",
    "SessionSwitchEvent",
    "SessionTreeEvent",
]


@frozen(kw_only=True, eq=False)
class ProjectTrustEvent:
    """A project has files of its own, and nobody on the command line said whether they count.

    Attributes:
        cwd: The project's folder, without symbolic links.
        resources: Paths of what needs trust: settings, extensions, skills, prompts ...
    """

    type: ClassVar[Literal["project_trust"]] = "project_trust"
    cwd: str
    resources: tuple[str, ...] = ()


@frozen(kw_only=True)
class ProjectTrustResult:
    """Whether a project's own files count; ``remember=True`` keeps the decision for this folder and all below it."""

    trusted: Literal["yes", "no", "undecided"]
    remember: bool = False

    @property
    def abstains(self) -> bool:
        """Whether this is no opinion: the next plugin is asked."""
        return self.trusted == "undecided"

    def problem(self, event: ProjectTrustEvent) -> str | None:
        """Return what is wrong with the answer."""
        known = self.trusted in ("yes", "no", "undecided")
        return None if known else f"answered trusted={self.trusted!r}, which is none of yes, no and undecided"


@frozen(kw_only=True, eq=False)
class SessionStartEvent:
    """A session begins or is loaded."""

    type: ClassVar[Literal["session_start"]] = "session_start"
    reason: Literal["startup", "reload", "new", "resume", "fork"] = "startup"
    previous_session_file: str | None = None


@frozen(kw_only=True, eq=False)
class SessionShutdownEvent:
    """A session ends, for good or for another one."""

    type: ClassVar[Literal["session_shutdown"]] = "session_shutdown"
    reason: Literal["quit", "reload", "new", "resume", "fork"] = "quit"
    target_session_file: str | None = None


@frozen(kw_only=True, eq=False)
class SessionSwitchEvent:
    """Another session is in place (``session_start`` tells the same with its ``reason``)."""

    type: ClassVar[Literal["session_switch"]] = "session_switch"
    reason: Literal["new", "resume"]
    previous_session_file: str | None = None


@frozen(kw_only=True, eq=False)
class SessionForkEvent:
    """The session is a fork now (``session_start`` tells the same with its ``reason``)."""

    type: ClassVar[Literal["session_fork"]] = "session_fork"
    previous_session_file: str | None = None


@frozen(kw_only=True, eq=False)
class SessionBeforeSwitchEvent:
    """The user wants another session."""

    type: ClassVar[Literal["session_before_switch"]] = "session_before_switch"
    reason: Literal["new", "resume"]
    target_session_file: str | None = None


@frozen(kw_only=True)
class SessionBeforeSwitchResult:
    """``cancel=True`` keeps the present session."""

    cancel: bool = False


@frozen(kw_only=True, eq=False)
class SessionBeforeForkEvent:
    """The user wants to fork from an entry, ``before`` it or ``at`` it."""

    type: ClassVar[Literal["session_before_fork"]] = "session_before_fork"
    entry_id: str
    position: Literal["before", "at"] = "before"


@frozen(kw_only=True)
class SessionBeforeForkResult:
    """``cancel=True`` keeps the session whole."""

    cancel: bool = False
    skip_conversation_restore: bool | None = None


@frozen(kw_only=True, eq=False)
class SessionBeforeCompactEvent:
    """The conversation is about to be compacted."""

    type: ClassVar[Literal["session_before_compact"]] = "session_before_compact"
    preparation: CompactionPreparation
    branch_entries: Sequence[SessionEntry] = ()
    custom_instructions: str | None = None
    signal: AbortSignal | None = None
    reason: CompactionReason = "manual"
    will_retry: bool = False


@frozen(kw_only=True)
class SessionBeforeCompactResult:
    """``cancel=True``, or a compaction made elsewhere."""

    cancel: bool = False
    compaction: Compaction | None = None


@frozen(kw_only=True, eq=False)
class SessionCompactEvent:
    """The conversation was compacted."""

    type: ClassVar[Literal["session_compact"]] = "session_compact"
    compaction_entry: CompactionEntry
    from_extension: bool = False
    reason: CompactionReason = "manual"
    will_retry: bool = False


@frozen(kw_only=True, eq=False)
class SessionCompactFailedEvent:
    """A compaction came to nothing; the session is as it was."""

    type: ClassVar[Literal["session_compact_failed"]] = "session_compact_failed"
    reason: CompactionReason
    error_message: str | None = None
    aborted: bool = False
    will_retry: bool = False
    from_extension: bool = False


@frozen(kw_only=True, eq=False)
class SessionBeforeTreeEvent:
    """The user wants to go to another place in the tree."""

    type: ClassVar[Literal["session_before_tree"]] = "session_before_tree"
    target_id: str
    old_leaf_id: str | None
    common_ancestor_id: str | None
    entries_to_summarize: tuple[SessionEntry, ...] = ()
    user_wants_summary: bool = False
    custom_instructions: str | None = None
    replace_instructions: bool = False
    label: str | None = None
    signal: AbortSignal | None = None


@frozen(kw_only=True)
class SessionBeforeTreeResult:
    """``cancel=True``, a summary made elsewhere, other instructions for the summary, or a label."""

    cancel: bool = False
    summary: str | None = None
    details: Any = None
    custom_instructions: str | None = None
    replace_instructions: bool | None = None
    label: str | None = None


@frozen(kw_only=True, eq=False)
class SessionTreeEvent:
    """The conversation goes on from another place in the tree."""

    type: ClassVar[Literal["session_tree"]] = "session_tree"
    new_leaf_id: str | None
    old_leaf_id: str | None
    summary_entry: BranchSummaryEntry | None = None
    from_extension: bool = False


@frozen(kw_only=True, eq=False)
class ResourcesDiscoverEvent:
    """Skills, prompts and themes are being looked for."""

    type: ClassVar[Literal["resources_discover"]] = "resources_discover"
    cwd: str
    reason: Literal["startup", "reload"] = "startup"


def _paths(paths: Iterable[str]) -> tuple[str, ...]:
    if isinstance(paths, str):
        raise TypeError(f"Give a list of paths, [{paths!r}]: a single text would be taken for a list of its letters.")
    return tuple(paths)


@frozen(kw_only=True)
class ResourcesDiscoverResult:
    """Further paths to look in."""

    skill_paths: tuple[str, ...] = field(default=(), converter=_paths)
    prompt_paths: tuple[str, ...] = field(default=(), converter=_paths)
    theme_paths: tuple[str, ...] = field(default=(), converter=_paths)

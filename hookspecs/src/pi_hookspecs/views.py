"""Read-only views for plugins: the session and its tree, the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, runtime_checkable

from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pi_hookspecs.entries import SessionHeader
    from pi_hookspecs.rare_entries import BranchSummaryEntry, SessionEntry
    from pi_hookspecs.session_context import SessionContext

__all__ = [
    "ChangeableSettings",
    "ContextUsage",
    "SessionTreeNode",
    "SessionView",
    "SettingsView",
    "TreeNavigation",
]


_T = TypeVar("_T")


@frozen(kw_only=True, eq=False, repr=False)
class ContextUsage(Value):
    """How much of the context window is used; ``tokens`` and ``percent`` are None if that is not known."""

    tokens: int | None
    context_window: int
    percent: float | None


@runtime_checkable
class SessionTreeNode(Protocol):
    """An entry in the session's tree. The entry is parsed on access; id and type do not need that."""

    @property
    def id(self) -> str:
        """The entry's id."""
        ...

    @property
    def type(self) -> str:
        """The entry's type."""
        ...

    @property
    def entry(self) -> SessionEntry:
        """The entry."""
        ...

    @property
    def children(self) -> Sequence[SessionTreeNode]:
        """The entries that follow it, oldest first."""
        ...

    @property
    def label(self) -> str | None:
        """Its label, set by the user or a plugin."""
        ...

    @property
    def label_timestamp(self) -> str | None:
        """When it was labelled, ISO 8601."""
        ...


@runtime_checkable
class SessionView(Protocol):
    """The session, read only."""

    @property
    def header(self) -> SessionHeader:
        """The session's header: working directory, creation time, the session it was forked from."""
        ...

    @property
    def name(self) -> str | None:
        """The session's name."""
        ...

    @property
    def id(self) -> str:
        """The session's id."""
        ...

    @property
    def file(self) -> Path | None:
        """The session's file; None if the session is in memory or in a database."""
        ...

    @property
    def reference(self) -> str | None:
        """The reference that opens the session again, as ``SessionInfo.path``; None for a session in memory."""
        ...

    @property
    def leaf_id(self) -> str | None:
        """The entry that the next one will follow."""
        ...

    def entries(self) -> Sequence[SessionEntry]:
        """All entries, of all branches, oldest first."""
        ...

    def branch(self, from_id: str | None = None) -> Sequence[SessionEntry]:
        """The entries from the root to the leaf, or to the given entry.

        Records of system prompt and tools (``SystemMessage.is_record``) are left out; ``entries`` has them.
        """
        ...

    def entry(self, entry_id: str) -> SessionEntry | None:
        """The entry with this id."""
        ...

    def children(self, entry_id: str) -> Sequence[SessionEntry]:
        """The entries that follow an entry, oldest first."""
        ...

    def label(self, entry_id: str) -> str | None:
        """The label of an entry."""
        ...

    def tree(self) -> Sequence[SessionTreeNode]:
        """The roots of the tree: more than one after the leaf was reset, or if a parent is missing."""
        ...

    def context(self) -> SessionContext:
        """The model's context of the current branch."""
        ...


@runtime_checkable
class SettingsView(Protocol):
    """The user's settings, read only."""

    @property
    def agent_dir(self) -> Path:
        """The folder of the user's own files: settings, skills, sessions."""
        ...

    def get(self, key: str | Sequence[str], default: Any = None) -> Any:
        """Return a value by dotted name, ``"hooks.timeout"``, or path of keys; the default if it is not set."""
        ...

    def get_bool(self, key: str | Sequence[str], default: _T) -> bool | _T:
        """Return a boolean; the default if it is not set. A value of another type is reported to the user."""
        ...

    def get_number(self, key: str | Sequence[str], default: _T, *, minimum: float | None = None) -> float | _T:
        """Return a finite number that is not below the minimum; the default if it is not set."""
        ...

    def get_str(self, key: str | Sequence[str], default: _T) -> str | _T:
        """Return a string; the default if it is not set."""
        ...

    def get_str_list(self, key: str | Sequence[str], default: Sequence[str] = ()) -> list[str]:
        """Return a list of strings; the default if it is not set."""
        ...

    def get_choice(self, key: str | Sequence[str], choices: Sequence[str], default: _T) -> str | _T:
        """Return one of several strings; the default if it is not set. Another value is reported to the user."""
        ...

    def each(self, key: str | Sequence[str]) -> list[tuple[str, Any]]:
        """Return every place that sets a key, with its value there; the effective one is last.

        The name of the project's file ends with ``.pi/settings.json``; it is included only in a trusted project. Use
        this for a policy that a project may make stricter but not weaker.
        """
        ...

    def place(self, key: str | Sequence[str]) -> str | None:
        """Return where the effective value was set; for a file, with its line: ``/a/settings.json:3``."""
        ...

    def unread(self, key: str | Sequence[str]) -> str | None:
        """Return why a file that may set a key, or a part of it, cannot be read; None if all can be read.

        Its values count as not set, with a notice to the user. Check this for a setting that must not be lost silently.
        """
        ...


@runtime_checkable
class ChangeableSettings(SettingsView, Protocol):
    """The user's settings, to read and to change."""

    async def set(self, key: str | Sequence[str], value: Any, *, scope: Literal["user", "project"] = "user") -> bool:
        """Write a setting to the user's own file, or the project's; the running session uses it immediately.

        Only settings of pi and those that plugins declare (``register_settings``) can be set. A protected setting
        decides which plugins, guards or programs are used, such as ``plugins.disabled``: the user is asked, and if no
        user can answer it is not written. The plugin that declared a protected setting may change it without asking.

        Args:
            key: A dotted name, or a path of keys.
            value: Any JSON value of the setting's type; None overrides the user's own file with "not set".
            scope: Which file; ``project`` only for a trusted project.

        Returns:
            Whether the value is in effect; False if the command line, an environment variable or the project's file
            sets another one.

        Raises:
            UnknownName: No such setting is known; the message names the nearest ones.
            UserError: The value is of a wrong type, the project is not trusted, the setting is protected and the user
                did not allow the change, or the file cannot be written. Nothing was changed.
            PiError: Another process holds the file's lock.
        """
        ...


@frozen(kw_only=True, eq=False, repr=False)
class TreeNavigation(Value):
    """Result of navigating to another entry.

    Attributes:
        cancelled: Whether a plugin, or an abort of the summary, prevented it.
        aborted: Whether the summary was aborted.
        editor_text: Text of the user message that is the target, for editing: the conversation continues before it.
        summary_entry: The summary that was added.
    """

    cancelled: bool = False
    aborted: bool = False
    editor_text: str | None = None
    summary_entry: BranchSummaryEntry | None = None

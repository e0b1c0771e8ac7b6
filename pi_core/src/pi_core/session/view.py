"""The read-only view of the session for plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from attrs import evolve

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pi_core.host import PluginHost
    from pi_core.session.lazy_messages import LazyMessages
    from pi_core.session.nodes import TreeNode
    from pi_core.session.open_session import OpenSession
    from pi_core.session.tree import Entries
    from pi_hookspecs import SessionContext, SessionEntry, SessionHeader

__all__ = ["ReadOnlySession", "SessionSource"]


class SessionSource(Protocol):
    """The attributes of a ``SessionManager`` that views and exports use.

    Attributes:
        open_session: The session that is currently open.
    """

    open_session: OpenSession

    @property
    def is_persisted(self) -> bool:
        """Whether the session is stored, beginning with the first prompt."""

    @property
    def plugin_host(self) -> PluginHost | None:
        """The plugin host with which the session was created; None for a session in memory."""


class ReadOnlySession:
    """``ctx.session``: implements ``SessionView`` over a manager.

    Args:
        session: The manager; the view follows it when it switches to another session.
    """

    def __init__(self, session: SessionSource) -> None:
        self._session = session

    @property
    def header(self) -> SessionHeader:
        """The session's id, time and working directory."""
        return self._session.open_session.header

    @property
    def name(self) -> str | None:
        """The name that the user gave the session."""
        return self._session.open_session.names.name

    @property
    def id(self) -> str:
        """The session's id."""
        return self._session.open_session.header.id

    @property
    def file(self) -> Path | None:
        """The session's file, if it is in one; made with the first prompt."""
        return self._session.open_session.writer.stored.file

    @property
    def reference(self) -> str | None:
        """The reference that opens the session again, like ``SessionInfo.path``; None for a session in memory."""
        return self._session.open_session.writer.stored.reference if self._session.is_persisted else None

    @property
    def leaf_id(self) -> str | None:
        """The entry that the next one will follow."""
        return self._session.open_session.leaf_id

    def entries(self) -> Entries:
        """Return a snapshot of all entries, oldest first."""
        return self._session.open_session.tree.entries()

    def entry(self, entry_id: str) -> SessionEntry | None:
        """Return the entry with this id; None if there is none."""
        return self._session.open_session.tree.get(entry_id)

    def children(self, parent_id: str | None) -> list[SessionEntry]:
        """Return the entries that follow an entry, oldest first; for None, the roots."""
        return self._session.open_session.tree.get_children(parent_id)

    def label(self, entry_id: str) -> str | None:
        """Return an entry's label; None if it has none."""
        return self._session.open_session.names.label(entry_id)

    def tree(self) -> Sequence[TreeNode]:
        """Return the roots of the tree; an entry whose parent is missing is a root."""
        return self._session.open_session.get_tree()

    def branch(self, from_id: str | None = None) -> Sequence[SessionEntry]:
        """Return the entries from the root to the leaf or to a given entry, without records of prompt and tools."""
        return self._session.open_session.get_branch(from_id, records=False)

    def context(self) -> SessionContext:
        """Return the context of the current branch that is sent to the model."""
        context = self._session.open_session.context.get()
        return evolve(context, messages=cast("LazyMessages", context.messages).copies())

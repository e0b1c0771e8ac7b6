"""The read-only view of the session for plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from attrs import evolve

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pi_core.session.lazy_messages import LazyMessages
    from pi_core.session.nodes import TreeNode
    from pi_core.session.open_session import OpenSession
    from pi_core.session.tree import Entries
    from pi_hookspecs import SessionContext, SessionEntry, SessionHeader

__all__ = ["ReadOnlySession"]


class ReadOnlySession:
    """``ctx.session``: implements ``SessionView`` over an open session.

    Args:
        session: The session; the view follows a ``SessionManager`` when it switches to another one.
    """

    def __init__(self, session: OpenSession) -> None:
        self._session = session

    @property
    def header(self) -> SessionHeader:
        """The session's id, time and working directory."""
        return self._session.header

    @property
    def name(self) -> str | None:
        """The name that the user gave the session."""
        return self._session.name

    @property
    def id(self) -> str:
        """The session's id."""
        return self._session.id

    @property
    def file(self) -> Path | None:
        """The session's file, if it is in one; made with the first prompt."""
        return self._session.file

    @property
    def reference(self) -> str | None:
        """The reference that opens the session again, like ``SessionInfo.path``; None for a session in memory."""
        return self._session.reference if self._session.is_persisted else None

    @property
    def leaf_id(self) -> str | None:
        """The entry that the next one will follow."""
        return self._session.leaf_id

    def entries(self) -> Entries:
        """Return a snapshot of all entries, oldest first."""
        return self._session.entries()

    def entry(self, entry_id: str) -> SessionEntry | None:
        """Return the entry with this id; None if there is none."""
        return self._session.entry(entry_id)

    def children(self, parent_id: str | None) -> list[SessionEntry]:
        """Return the entries that follow an entry, oldest first; for None, the roots."""
        return self._session.get_children(parent_id)

    def label(self, entry_id: str) -> str | None:
        """Return an entry's label; None if it has none."""
        return self._session.get_label(entry_id)

    def tree(self) -> Sequence[TreeNode]:
        """Return the roots of the tree; an entry whose parent is missing is a root."""
        return self._session.get_tree()

    def branch(self, from_id: str | None = None) -> Sequence[SessionEntry]:
        """Return the entries from the root to the leaf or to a given entry, without records of prompt and tools."""
        return self._session.get_branch(from_id, records=False)

    def context(self) -> SessionContext:
        """Return the context of the current branch that is sent to the model."""
        context = self._session.context.get()
        return evolve(context, messages=cast("LazyMessages", context.messages).copies())

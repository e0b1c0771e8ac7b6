"""The session as plugins see it: everything that can be asked, nothing that can be changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from attrs import evolve

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pi_core.session.lazy_messages import LazyMessages
    from pi_core.session.manager import SessionManager
    from pi_core.session.nodes import TreeNode
    from pi_hookspecs import SessionContext, SessionEntry, SessionHeader

__all__ = ["ReadOnlySession"]


class ReadOnlySession:
    """``ctx.session``: implements ``SessionView`` over a manager."""

    def __init__(self, session: SessionManager) -> None:
        self._session = session

    @property
    def header(self) -> SessionHeader:
        """What the session says of itself."""
        return self._session.header

    @property
    def name(self) -> str | None:
        """What the user calls the session."""
        return self._session.name

    @property
    def id(self) -> str:
        """The session's id."""
        return self._session.id

    @property
    def file(self) -> Path | None:
        """Where it is stored, or will be with the first answer; None in memory."""
        return self._session.file

    @property
    def leaf_id(self) -> str | None:
        """The entry that the next one will follow."""
        return self._session.leaf_id

    def entries(self) -> Sequence[SessionEntry]:
        """All entries of all branches, oldest first."""
        return self._session.get_entries()

    def branch(self, from_id: str | None = None) -> Sequence[SessionEntry]:
        """The entries from the root to the leaf, or to the entry named, without records of what the model was told."""
        return self._session.get_branch(from_id, records=False)

    def entry(self, entry_id: str) -> SessionEntry | None:
        """The entry with this id."""
        return self._session.get_entry(entry_id)

    def children(self, entry_id: str) -> Sequence[SessionEntry]:
        """The entries that follow an entry, oldest first."""
        return self._session.get_children(entry_id)

    def label(self, entry_id: str) -> str | None:
        """What the user calls an entry."""
        return self._session.get_label(entry_id)

    def tree(self) -> Sequence[TreeNode]:
        """The roots of the tree."""
        return self._session.get_tree()

    def context(self) -> SessionContext:
        """What the present branch tells the model."""
        context = self._session.build_session_context()
        return evolve(context, messages=cast("LazyMessages", context.messages).copies())

"""The read-only view of the session for plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from attrs import evolve

from pi_core.base.forwarding import attribute, forward
from pi_core.session.nodes import Names
from pi_core.session.open_session import OpenSession
from pi_core.session.tree import SessionTree

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pi_core.host import PluginHost
    from pi_core.session.lazy_messages import LazyMessages
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
        """Whether the session is stored, beginning with the first answer."""

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

    header: SessionHeader = attribute("_session.open_session.header", "The session's id, time and working directory.")
    name: str | None = attribute("_session.open_session.names.name", "The name that the user gave the session.")
    id: str = attribute("_session.open_session.header.id", "The session's id.")
    file: Path | None = attribute(
        "_session.open_session.writer.stored.file",
        "The session's file, if it is in one; made with the first answer.",
    )

    @property
    def reference(self) -> str | None:
        """The reference that opens the session again, like ``SessionInfo.path``; None for a session in memory."""
        return self._session.open_session.writer.stored.reference if self._session.is_persisted else None

    leaf_id: str | None = attribute("_session.open_session.leaf_id", "The entry that the next one will follow.")

    entries = forward("_session.open_session.tree", SessionTree.entries)
    entry = forward("_session.open_session.tree", SessionTree.get)
    children = forward("_session.open_session.tree", SessionTree.get_children)
    label = forward("_session.open_session.names", Names.label)
    tree = forward("_session.open_session", OpenSession.get_tree)

    def branch(self, from_id: str | None = None) -> Sequence[SessionEntry]:
        """Return the entries from the root to the leaf or to a given entry, without records of prompt and tools."""
        return self._session.open_session.get_branch(from_id, records=False)

    def context(self) -> SessionContext:
        """Return the context of the current branch that is sent to the model."""
        context = self._session.open_session.context.get()
        return evolve(context, messages=cast("LazyMessages", context.messages).copies())

"""Sessions other than the current one: stored ones, to read, and those that a plugin creates for a task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.messages import Usage
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pi_hookspecs.session_store import SessionInfo, SessionPlace
    from pi_hookspecs.views import SessionView

__all__ = ["ChildSession", "DeletingStore", "SearchableStore", "SessionMatch", "Sessions", "StoredActions"]


@frozen(kw_only=True, eq=False, repr=False)
class SessionMatch(Value):
    """An entry of a stored session that a search found.

    Attributes:
        snippet: The text around the match.
        entry_id: The entry; None if the store knows only the session.
        score: Higher is better; comparable within one search.
    """

    session: SessionInfo
    snippet: str
    entry_id: str | None = None
    score: float = 0.0


@frozen(kw_only=True, eq=False, repr=False)
class ChildSession(Value):
    """The current state of a session that a plugin created with ``ctx.create_session``.

    Attributes:
        file: Its file, which is created with its first prompt; None for one in memory.
        label: The name that the plugin gave it.
        parent_call: Id of the tool call that it works for.
        status: ``failed`` when its last request failed or was aborted, or it ended without an answer.
        usage: Tokens and cost so far, including its own child sessions.
    """

    id: str
    file: str | None = None
    label: str | None = None
    parent_call: str | None = None
    status: Literal["running", "done", "failed"] = "running"
    usage: Usage = field(factory=Usage)


@runtime_checkable
class DeletingStore(Protocol):
    """A ``SessionStore`` that can delete its sessions; of other stores, front ends delete the file of a session."""

    def delete(self, reference: str) -> None:
        """Delete a stored session; called in a thread.

        Raises:
            UserError: There is none with this reference, or it cannot be deleted.
        """
        ...


@runtime_checkable
class SearchableStore(Protocol):
    """A ``SessionStore`` that can search its sessions."""

    def search(self, query: str, cwd: str | None = None, limit: int = 50) -> Sequence[SessionMatch]:
        """Search the sessions of a working directory, or all; return at most ``limit`` matches, the best first.

        Called in a thread.

        Args:
            query: What the user or the model typed; the store decides how it is read. Invalid syntax means its words.
            cwd: The working directory; all when None.
            limit: The most matches.
        """
        ...


@runtime_checkable
class Sessions(Protocol):
    """Read-only access to the sessions in the store that the setting ``sessionStore`` names."""

    @property
    def place(self) -> SessionPlace:
        """Where they are: pi's folder, or the one that was chosen with ``--session-dir``, a variable or a setting."""
        ...

    async def list(self, cwd: str | Path | None = None) -> Sequence[SessionInfo]:
        """Return the sessions of a working directory, or all, the most recently modified first."""
        ...

    async def open(self, reference: str) -> SessionView:
        """Read a stored session without switching to it or appending to it.

        Args:
            reference: ``SessionInfo.path``, or the beginning of an id.

        Raises:
            UserError: There is no such session, several ids begin with the reference, or it cannot be read.
        """
        ...

    async def search(self, query: str, cwd: str | Path | None = None, limit: int = 50) -> Sequence[SessionMatch]:
        """Search the sessions of a working directory, or all; return at most ``limit`` matches, the best first.

        Raises:
            UserError: The store cannot search; the message names it.
        """
        ...


@runtime_checkable
class StoredActions(Protocol):
    """The part of ``ctx`` about other sessions."""

    @property
    def sessions(self) -> Sessions:
        """The stored sessions."""
        ...

    @property
    def depth(self) -> int:
        """How many sessions this one is nested in: 0 for the user's own, 1 for a child session of it."""
        ...

    @property
    def children(self) -> Sequence[ChildSession]:
        """The sessions that plugins created for this one, oldest first."""
        ...

    @property
    def totals(self) -> Usage:
        """Tokens and cost of the session: all branches, side requests, tools, and child sessions, even running ones."""
        ...

    def create_session(
        self, *, persist: bool = False, parent_call: str | None = None, label: str | None = None, **options: Any
    ) -> Any:
        """Return a new child session, an ``AgentSession``: ``async with ctx.create_session(...) as session``.

        It uses the working directory, model, plugins, settings and keys of this one, and has none of the tools that are
        excluded here. Its usage counts for this session:
        as a ``usage`` entry when it ends, unless the result of ``parent_call`` has a ``usage`` (``ToolResult.usage``).

        Args:
            persist: Store it next to this session, whose file its header names as its parent. Otherwise, and if this
                session is in memory, it is kept in memory.
            parent_call: Id of the tool call that it works for; in a tool, that of the tool's call.
            label: A short name, for lists and for the usage.
            options: Those of ``create_agent_session``; ``disable``, a list of names, leaves plugins out.

        Raises:
            PiError: Child sessions are nested too deeply, or ``persist`` is given with a ``session_manager``.
        """
        ...

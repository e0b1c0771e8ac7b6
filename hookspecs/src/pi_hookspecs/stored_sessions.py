"""Other sessions than the present one: the stored ones to read, and those that a plugin creates for a task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from attrs import frozen

from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pi_hookspecs.session_store import SessionInfo
    from pi_hookspecs.views import SessionView

__all__ = ["SearchableStore", "SessionMatch", "Sessions", "StoredActions"]


@frozen(kw_only=True, eq=False, repr=False)
class SessionMatch(Value):
    """An entry of a stored session that a search found.

    Attributes:
        snippet: The text around the match.
        entry_id: The entry; None where the store knows only the session.
        score: Higher is better; comparable within one search.
    """

    session: SessionInfo
    snippet: str
    entry_id: str | None = None
    score: float = 0.0


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
    """The stored sessions, read only: those of the store of the setting ``sessionStore``."""

    async def list(self, cwd: str | Path | None = None) -> Sequence[SessionInfo]:
        """Return the sessions of a working directory, or all, the most recently modified first."""
        ...

    async def open(self, reference: str) -> SessionView:
        """Read a stored session as it is now; it is not switched to, and nothing is appended to it.

        Args:
            reference: ``SessionInfo.path``, or the beginning of an id.

        Raises:
            UserError: There is no such session, several have an id that begins so, or it cannot be read.
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

    def create_session(self, **options: Any) -> Any:
        """Return a new ``AgentSession`` for a subagent: ``async with ctx.create_session(...) as session``.

        It is kept in memory and uses the working directory, model, plugins, settings and keys of this one.

        Args:
            options: Those of ``create_agent_session``.

        Raises:
            PiError: Subagents are nested too deeply.
        """
        ...

"""The error for what only a session's own process can do, apart from ``protocol``, which no start needs to import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from pi_core.conversation.protocol import Session
    from pi_core.conversation.session import AgentSession

__all__ = ["not_over_connection", "require_local"]


def require_local(session: Session, what: str) -> AgentSession:
    """Return the session itself for something that only its process can do.

    Args:
        session: The session.
        what: What is to be done, as the subject of a sentence: ``Signing in``.

    Raises:
        UserError: The session is in another process.
    """
    if session.local is None:
        raise not_over_connection(what)
    return session.local


def not_over_connection(what: str) -> UserError:
    """Return the error for something that a connection to another process does not offer."""
    return UserError(f"{what} does not work over a connection. Do it where the session runs.")

"""The built-in store ``memory``; its sessions are lost at the end of the program."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pi_core.session.ids import milliseconds
from pi_hookspecs.deferred import define, field
from pi_hookspecs.entries import MessageEntry
from pi_hookspecs.errors import UserError
from pi_hookspecs.messages import AssistantMessage, SystemMessage, UserMessage
from pi_hookspecs.session_store import SessionInfo
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Progress, SessionEntry, SessionHeader, StoredSession

__all__ = ["MemorySession", "MemoryStore"]


@define(eq=False, repr=False)
class MemorySession(ReprMixin):
    """A session in a list."""

    header: SessionHeader
    entries: list[SessionEntry] = field(factory=list)
    notices: Sequence[str] = ()
    file: None = None

    @property
    def reference(self) -> str:
        """The session's id."""
        return self.header.id

    def append(self, entries: Sequence[SessionEntry]) -> None:
        """Append entries to the list."""
        self.entries.extend(entries)

    def sync(self) -> None:
        """Do nothing: there is no disk."""

    def close(self) -> None:
        """Do nothing: the store keeps the session."""


class MemoryStore:
    """Keeps sessions in memory; implements ``SessionStore``."""

    name = "memory"

    def __init__(self, place: object = None) -> None:
        del place
        self._sessions: dict[str, MemorySession] = {}

    def create(self, header: SessionHeader, reference: str | None = None) -> MemorySession:
        """Create a session; its reference is its id."""
        del reference
        session = self._sessions[header.id] = MemorySession(header)
        return session

    def open(self, reference: str) -> MemorySession:
        """Return a session of this store.

        Raises:
            UserError: There is no session with that id.
        """
        session = self._sessions.get(reference)
        if session is None:
            raise UserError(f"No session {reference!r} in memory; sessions in memory end with the program.")
        return MemorySession(session.header, session.entries)

    def list(self, cwd: str | None = None, progress: Progress | None = None) -> Sequence[SessionInfo]:
        """List the sessions, the most recently modified first."""
        found = [_info(each) for each in self._sessions.values() if cwd is None or each.header.cwd == cwd]
        if progress is not None:
            progress(len(found), len(found))
        return sorted(found, key=lambda each: each.modified, reverse=True)

    def latest(self, cwd: str) -> str | None:
        """Return the id of the working directory's session with the newest message."""
        found = self.list(cwd)
        return found[0].path if found else None

    def fork(self, source: StoredSession, header: SessionHeader, numbers: Sequence[int]) -> MemorySession:
        """Create a session with entries of another session."""
        entries = source.entries
        session = self.create(header)
        session.append([entries[number] for number in numbers])
        return session


def _info(session: MemorySession) -> SessionInfo:
    from pi_hookspecs.rare_entries import SessionInfoEntry

    header, entries = session.header, session.entries
    messages = [entry.message for entry in entries if isinstance(entry, MessageEntry)]
    turns = [each for each in messages if isinstance(each, UserMessage | AssistantMessage)]
    names = [entry.name for entry in entries if isinstance(entry, SessionInfoEntry)]
    created = datetime.fromtimestamp(milliseconds(header.timestamp) / 1000, UTC)
    return SessionInfo(
        path=header.id,
        id=header.id,
        cwd=header.cwd,
        created=created,
        modified=datetime.fromtimestamp(turns[-1].timestamp / 1000, UTC) if turns else created,
        message_count=sum(not isinstance(each, SystemMessage) for each in messages),
        first_message=next((each.text for each in turns if isinstance(each, UserMessage)), "") or "(no messages)",
        name=(names[-1] or None) if names else None,
        parent_session_path=header.parent_session,
        read_text=lambda: " ".join(each.text for each in turns),
    )

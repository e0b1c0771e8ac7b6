"""Protocols of session stores.

A ``SessionStore`` is a location (a folder, a database); a ``StoredSession`` is one session in it. Core implements the
tree, the leaf, the context and the rule that nothing is stored before the first prompt: a store keeps and
returns entries in the order in which it gets them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from datetime import datetime
    from pathlib import Path

    from pi_hookspecs.entries import SessionHeader
    from pi_hookspecs.rare_entries import SessionEntry

__all__ = [
    "EntryIndex",
    "IndexedEntries",
    "Progress",
    "SessionInfo",
    "SessionPlace",
    "SessionStore",
    "StoredSession",
    "SyncPolicy",
]

SyncPolicy: TypeAlias = Literal["never", "turn", "entry"]
"""When appended entries are flushed to disk: left to the system, at the end of each turn, or at every entry."""

Progress: TypeAlias = "Callable[[int, int], None]"
"""Progress callback of a listing: sessions read so far, and their total."""


@frozen(kw_only=True, eq=False, repr=False)
class SessionPlace(Value):
    """Where a store keeps its sessions.

    Attributes:
        agent_dir: pi's folder; a store creates its own folder in it.
        session_dir: The folder that the user chose instead, for the sessions of every working directory.
        sync: When appended entries are flushed to disk.
    """

    agent_dir: Path
    session_dir: Path | None = None
    sync: SyncPolicy = "turn"


@frozen(kw_only=True, eq=False, repr=False)
class SessionInfo(Value):
    """A stored session in a list.

    Attributes:
        path: Reference for ``open``; the path of a session in a file.
        modified: Time of the last message of user or assistant.
        first_message: Text of the user's first message, ``(no messages)`` when there is none.
        read_text: Returns the text of all messages of user and assistant, joined by spaces.
    """

    path: str
    id: str
    cwd: str
    created: datetime
    modified: datetime
    message_count: int = 0
    first_message: str = "(no messages)"
    name: str | None = None
    parent_session_path: str | None = None
    read_text: Callable[[], str] = field(default=str, eq=False, repr=False)

    @property
    def all_messages_text(self) -> str:
        """The text of all messages, for searching; read from the store on access."""
        return self.read_text()


@frozen(kw_only=True, eq=False, repr=False)
class EntryIndex(ReprMixin):
    """Index of stored entries for building the tree: one item per entry, in order.

    Attributes:
        ids: Their ids.
        parent_ids: Ids of their parents; None for a root.
        types: Their types, ``"message"``.
        system: Positions of the messages of role ``system``, possibly with others; None if all messages must be read
            to find them, which core then does before the first request.
    """

    ids: Sequence[str]
    parent_ids: Sequence[str | None]
    types: Sequence[str]
    system: Collection[int] | None = None


@runtime_checkable
class IndexedEntries(Protocol):
    """A sequence of entries that are parsed on access; the tree is built from its index alone.

    Core recognises it by the type of ``index``, an ``EntryIndex``, because a list has a method of that name. It may
    have a method ``message(number) -> AgentMessage | None``, if reading only the message of an entry is faster; when
    that returns None, core reads the entry. A method ``line(number) -> bytes | None`` returns the
    JSON of an entry as it is stored, without a newline, for answers that pass it on; None if an entry has to be made of
    it, because it is of an older format, unusual or damaged. A method ``message_line(number) -> bytes | None`` returns
    the JSON of its message alone in the same way.
    """

    @property
    def index(self) -> EntryIndex:
        """The index of the entries, available without parsing them."""
        ...

    def __len__(self) -> int: ...

    def __getitem__(self, number: int, /) -> SessionEntry:
        """Parse an entry. One that turns out to be damaged is an ``UnknownEntry`` of type ``damaged``."""
        ...


@runtime_checkable
class StoredSession(Protocol):
    """One session in a store."""

    @property
    def header(self) -> SessionHeader:
        """Its header, as stored."""
        ...

    @property
    def reference(self) -> str:
        """Its reference for ``SessionStore.open``."""
        ...

    @property
    def file(self) -> Path | None:
        """Its file; None if it is not stored in one."""
        ...

    @property
    def entries(self) -> Sequence[SessionEntry] | IndexedEntries:
        """The entries that it had when it was opened, oldest first."""
        ...

    @property
    def notices(self) -> Sequence[str]:
        """Notices for the user, in full sentences: skipped damage, another process writing to the session.

        May grow; core checks it after each append.
        """
        ...

    def append(self, entries: Sequence[SessionEntry]) -> None:
        """Append entries, all of them in one write.

        The first append of a new session creates it, with its header. When this returns, the entries survive the end
        of the process.

        Raises:
            OSError: They could not be stored; earlier entries can still be read. The next append gets these entries
                again, before its own.
        """
        ...

    def sync(self) -> None:
        """Flush appended entries to disk; called at the end of each turn when the policy is ``turn``.

        Raises:
            OSError: The flush failed.
        """
        ...

    def close(self) -> None:
        """Close the session; appended entries stay stored."""
        ...


@runtime_checkable
class SessionStore(Protocol):
    """Stores sessions. ``register_session_stores`` returns the class; it is called with a ``SessionPlace``.

    A store may also have the methods of ``SearchableStore`` and of ``DeletingStore``.
    """

    name: str
    """The value of the setting ``sessionStore`` that selects it."""

    def create(self, header: SessionHeader, reference: str | None = None) -> StoredSession:
        """Prepare a new session under an unused reference; nothing is stored yet."""
        ...

    def open(self, reference: str) -> StoredSession:
        """Open a stored session.

        Raises:
            UserError: There is no readable session; the message says what is wrong and what to do.
        """
        ...

    def list(self, cwd: str | None = None, progress: Progress | None = None) -> Sequence[SessionInfo]:
        """List the stored sessions of a working directory, or all, the most recently modified first.

        Unreadable ones are left out.
        """
        ...

    def latest(self, cwd: str) -> str | None:
        """Return the reference of the most recently stored session of a working directory; None if there is none.

        ``open`` may reject it: the user then gets the error instead of silently resuming an older session.
        """
        ...

    def fork(self, source: StoredSession, header: SessionHeader, numbers: Sequence[int]) -> StoredSession:
        """Create a new session from entries of another one, at these positions, in this order, unchanged.

        Positions count the entries that ``source`` had when it was opened, then those appended since.

        Raises:
            OSError: It could not be stored.
        """
        ...

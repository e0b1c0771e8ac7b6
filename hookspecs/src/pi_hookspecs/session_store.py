"""Where sessions are kept: what a store does, and what core asks of it.

A ``SessionStore`` knows a place (a folder, a database); a ``StoredSession`` is one session in it. The tree, the
leaf, the context and the rule that nothing is stored before the first answer are core's: a store keeps entries in
the order in which it gets them and gives them back in that order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

from attrs import field, frozen

from pi_hookspecs.values import Shown, Value

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
"""When what was appended is forced to the disk: never by us, at the end of each turn, or at every entry."""

Progress: TypeAlias = "Callable[[int, int], None]"
"""Told of a listing as it goes: how many sessions are read, of how many."""


@frozen(kw_only=True, eq=False, repr=False)
class SessionPlace(Value):
    """Where a store is to keep its sessions.

    Attributes:
        agent_dir: pi's folder; a store makes one of its own in it.
        session_dir: The folder that the user chose instead, for the sessions of every working directory.
        sync: When appended entries are forced to the disk.
    """

    agent_dir: Path
    session_dir: Path | None = None
    sync: SyncPolicy = "turn"


@frozen(kw_only=True, eq=False, repr=False)
class SessionInfo(Value):
    """A stored session in a list.

    Attributes:
        path: What ``open`` takes; of a session in a file, its path.
        modified: Time of the last message of user or assistant.
        first_message: Text of the user's first message, ``(no messages)`` when there is none.
        read_text: Reads the text of all messages of user and assistant, joined by spaces.
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
        """The text of all messages, for searching; read from the store when it is asked for."""
        return self.read_text()


@frozen(kw_only=True, eq=False, repr=False)
class EntryIndex(Shown):
    """What the tree needs of stored entries, one item for each, in their order.

    Attributes:
        ids: Their ids.
        parent_ids: Ids of the entries that they follow; None for a root.
        types: Their types, ``"message"``.
        system: Positions of the messages of role ``system``, with or without some others; None where only reading all
            messages would tell, which core then does before the first request.
    """

    ids: Sequence[str]
    parent_ids: Sequence[str | None]
    types: Sequence[str]
    system: Collection[int] | None = None


@runtime_checkable
class IndexedEntries(Protocol):
    """A sequence of entries that parses each when it is looked at; the tree is built from its index alone.

    Core recognises one by the ``EntryIndex`` that its ``index`` is: a list has a method of that name. One that can
    read the message of an entry faster than the entry may have a method ``message(number) -> AgentMessage | None``;
    it returns None where it cannot, and core reads the entry.
    """

    @property
    def index(self) -> EntryIndex:
        """What is known of the entries without parsing them."""
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
        """What ``SessionStore.open`` takes to find it again."""
        ...

    @property
    def file(self) -> Path | None:
        """The file that it is; None when it is none."""
        ...

    @property
    def entries(self) -> Sequence[SessionEntry] | IndexedEntries:
        """The entries that were there when it was opened, oldest first."""
        ...

    @property
    def notices(self) -> Sequence[str]:
        """What the user should know, in whole sentences: damage that was skipped, another process at work.

        May grow; core looks at it after each append.
        """
        ...

    def append(self, entries: Sequence[SessionEntry]) -> None:
        """Store entries after those that are there, all of them in one write.

        The first append of a new session makes it, with its header. When it returns the entries survive the
        process.

        Raises:
            OSError: They could not be stored; what was there before can still be read. The next append gets
                these entries again, before its own.
        """
        ...

    def sync(self) -> None:
        """Force to the disk what was appended; called at the end of each turn when the policy is ``turn``.

        Raises:
            OSError: It could not be.
        """
        ...

    def close(self) -> None:
        """Let go of the session; entries appended stay."""
        ...


@runtime_checkable
class SessionStore(Protocol):
    """Keeps sessions somewhere. ``register_session_stores`` returns the class: it is called with a ``SessionPlace``."""

    name: str

    def create(self, header: SessionHeader, reference: str | None = None) -> StoredSession:
        """Prepare a new session, under a reference that nothing is stored under; nothing is stored yet."""
        ...

    def open(self, reference: str) -> StoredSession:
        """Open a stored session.

        Raises:
            UserError: Nothing usable is stored there; the message says what is wrong and what to do.
        """
        ...

    def list(self, cwd: str | None = None, progress: Progress | None = None) -> Sequence[SessionInfo]:
        """List the stored sessions of a working directory, or all, the most recently modified first.

        What cannot be read is left out.
        """
        ...

    def latest(self, cwd: str) -> str | None:
        """Return the reference of the session of a working directory that was stored to last; None if none was.

        It may be one that ``open`` refuses: the user is told why, and not given an older session in silence.
        """
        ...

    def fork(self, source: StoredSession, header: SessionHeader, numbers: Sequence[int]) -> StoredSession:
        """Make a new session of entries of another one, at these positions, in this order, without changing them.

        Positions go on from the entries that were there when ``source`` was opened to those appended since.

        Raises:
            OSError: It could not be stored.
        """
        ...

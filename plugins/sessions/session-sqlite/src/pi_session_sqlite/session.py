"""One session in the database, opened or new; a new one is stored by the first append."""

from __future__ import annotations

import errno
import os
import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING

from pi_session_sqlite import rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pi_hookspecs.entries import SessionHeader
    from pi_hookspecs.rare_entries import SessionEntry
    from pi_hookspecs.session_store import SyncPolicy
    from pi_session_kit.entries import StoredEntries

__all__ = ["SqliteSession", "forced"]


class SqliteSession:
    """Implements ``StoredSession``.

    Args:
        header: Its header.
        reference: Its reference.
        path: The database.
        sync: When appended entries are flushed to disk.
        row: Its row, if it is stored already.
        entries: Its entries.
        notices: Notices for the user; may grow.
    """

    file = None

    def __init__(
        self,
        header: SessionHeader,
        reference: str,
        path: Path,
        sync: SyncPolicy,
        *,
        row: rows.Row | None = None,
        entries: StoredEntries | None = None,
        notices: list[str] | None = None,
    ) -> None:
        self.header = header
        self.reference = reference
        self.entries: Sequence[SessionEntry] | StoredEntries = () if entries is None else entries
        self.notices = [] if notices is None else notices
        self._old = entries
        self._path = path
        self._policy = sync
        self._number = None if row is None else row.number
        self._size = 0 if row is None else row.size
        self._database: sqlite3.Connection | None = None
        self._stored_ids: list[str] = []
        self._unsynced = self._shared = False

    def append(self, entries: Sequence[SessionEntry]) -> None:
        """Store entries atomically; the first call also stores the session.

        Raises:
            OSError: They could not be stored.
        """
        from pi_core import dumps

        lines = [dumps(entry) + b"\n" for entry in entries]
        database = self._opened()
        try:
            with rows.transaction(database):
                number, size = self._stored(database, lines)
        except sqlite3.Error as error:
            raise rows.storage_error(self._path, error) from error
        self._number, self._size = number, size
        self._stored_ids += [entry.id for entry in entries]
        self._unsynced = self._policy != "entry"

    def sync(self) -> None:
        """Flush appended entries to disk, unless the policy is never to do so.

        Raises:
            OSError: The flush failed.
        """
        if self._unsynced and self._policy != "never":
            forced(self._path)
        self._unsynced = False

    def close(self) -> None:
        """Close the database."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def raw_lines(self, numbers: Sequence[int]) -> Iterator[bytes]:
        """Yield lines of entries; numbers continue with entries appended since it was opened.

        Raises:
            OSError: The database cannot be read, or appended entries were removed from it.
            IndexError: There is no such entry.
        """
        old, count = self._old, len(self.entries)
        appended = self._appended() if any(number >= count for number in numbers) else {}
        for number in numbers:
            if old is not None and number < count:
                yield old.copy(number)
                continue
            entry_id = self._stored_ids[number - count]
            if entry_id not in appended:
                message = f"Entry {entry_id!r} is no longer in it; another program changed the session"
                raise OSError(errno.ESTALE, message, str(self._path))
            yield appended[entry_id]

    def _opened(self) -> sqlite3.Connection:
        """Return this session's connection, which stays open until the session is closed or no longer referenced."""
        from weakref import finalize

        from pi_hookspecs.errors import UserError

        if self._database is not None:
            return self._database
        try:
            self._database = database = rows.open_sessions(self._path)
        except UserError as error:
            raise OSError(errno.EIO, str(error), str(self._path)) from error
        finalize(self, database.close)
        if self._policy == "entry":
            database.execute("PRAGMA synchronous=FULL")
        return database

    def _stored(self, database: sqlite3.Connection, lines: Sequence[bytes]) -> tuple[int, int]:
        """Store lines; return the session's number and its new size."""
        if self._number is None:
            from pi_core import to_wire
            from pi_session_kit.header import header_line

            whole = [header_line(self.header) + b"\n", *lines]
            return rows.insert(database, self.reference, to_wire(self.header), whole), sum(map(len, whole))
        row = rows.row_of(database, self.reference)
        if row is None or row.number != self._number:
            message = f"The session {self.reference!r} was removed from it by another process"
            raise OSError(errno.ESTALE, message, str(self._path))
        if row.size != self._size and not self._shared:
            self._shared = True
            self.notices.append(
                f"Another process has added to the session {self.reference!r}. What both add goes into this one"
                " session, as two branches; fork the session to keep them separate."
            )
        before = () if rows.ends_a_line(database, row.number) else (b"\n",)
        return row.number, row.size + rows.add(database, row.number, (*before, *lines))

    def _appended(self) -> dict[str, bytes]:
        from pi_session_kit.copies import lines_by_id

        assert self._number is not None  # noqa: S101 - it has entries
        try:
            return lines_by_id(rows.content(self._opened(), self._number))
        except sqlite3.Error as error:
            raise rows.storage_error(self._path, error) from error


def forced(path: Path) -> None:
    """Flush a database's committed changes to disk: its write-ahead log, and the log's directory entry.

    SQLite has no locks on that file, which closing a descriptor would release.

    Raises:
        OSError: It failed.
    """
    try:
        log = os.open(path.with_name(f"{path.name}-wal"), os.O_RDWR)
    except FileNotFoundError:  # SQLite has moved it into the database, which it flushes itself
        return
    try:
        os.fsync(log)
    finally:
        os.close(log)
    with suppress(OSError):  # not every system can open folders
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

"""The store ``sqlite``: the sessions of all working directories in one database."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

import attrs

from pi_hookspecs.errors import UserError
from pi_session_sqlite import rows as _rows
from pi_session_sqlite.places import database_of, folder_of
from pi_session_sqlite.session import SqliteSession, forced

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_hookspecs.entries import SessionHeader
    from pi_hookspecs.session_store import Progress, SessionInfo, SessionPlace, StoredSession
    from pi_hookspecs.stored_sessions import SessionMatch
    from pi_session_kit.summary import Summary

__all__ = ["SqliteSessionStore"]


class SqliteSessionStore:
    """Implements ``SessionStore``: the reference of a session is its id, or another name if the id is taken.

    Raises:
        UserError: The database cannot be used.
    """

    name = "sqlite"

    def __init__(self, place: SessionPlace) -> None:
        self.place = place
        self._path = database_of(place)
        _rows.reading(self._path, lambda _: None, None)

    def create(self, header: SessionHeader, reference: str | None = None) -> SqliteSession:
        """Prepare a new session; the first append stores it, and fails if the reference is taken by then."""
        return SqliteSession(header, reference or header.id, self._path, self.place.sync)

    def open(self, reference: str) -> SqliteSession:
        """Open a session; one of an older version is migrated in memory only.

        Raises:
            UserError: There is none with this reference, or it cannot be read.
        """
        found = _rows.reading(self._path, partial(_rows.stored, name=reference), None)
        if found is None:
            raise UserError(
                f"There is no session {reference!r} in {str(self._path)!r}. pi sessions list shows the stored ones; "
                f"/import FILE, or pi sessions convert --to sqlite, stores a session file in it"
            )
        from pi_session_sqlite.opening import open_session

        row, data = found
        return open_session(row, data, self._path, self.place.sync)

    def list(self, cwd: str | None = None, progress: Progress | None = None) -> Sequence[SessionInfo]:
        """List the sessions of a working directory, or all, the most recently modified first."""
        nothing: Sequence[SessionInfo] = ()
        found = _rows.reading(self._path, partial(self._infos, cwd=cwd, progress=progress), nothing)
        return sorted(found, key=lambda info: info.modified, reverse=True)

    def latest(self, cwd: str) -> str | None:
        """Return a working directory's most recently stored session, except child sessions."""
        return _rows.reading(self._path, partial(_rows.latest, cwd=cwd), None)

    def fork(self, source: StoredSession, header: SessionHeader, numbers: Sequence[int]) -> SqliteSession:
        """Create a new session from another one's entries; from a store of lines they are copied byte for byte.

        Raises:
            OSError: It could not be stored; no part of it was.
        """
        from pi_session_kit.copies import copied_lines
        from pi_session_kit.header import header_line

        lines = [each + b"\n" for each in (header_line(header), *copied_lines(source, numbers))]
        try:
            with closing(_rows.open_sessions(self._path)) as database:
                with _rows.transaction(database):
                    _rows.insert(database, header.id, _plain(header), lines)
                if self.place.sync != "never":
                    forced(self._path)
        except sqlite3.Error as error:
            raise _rows.storage_error(self._path, error) from error
        return self.open(header.id)

    def delete(self, reference: str) -> None:
        """Delete a session; implements ``DeletingStore``. A process that has it open cannot append to it any more.

        Raises:
            UserError: There is none with this reference, or the database cannot be used.
        """
        if _rows.reading(self._path, partial(_deleted, name=reference), None) is None:
            raise UserError(f"There is no session {reference!r} in {str(self._path)!r} to delete")

    def search(self, query: str, cwd: str | None = None, limit: int = 50) -> Sequence[SessionMatch]:
        """Search the sessions; implements ``SearchableStore``."""
        from pi_session_sqlite.matches import matches

        return matches(self, self.place, query, cwd, limit)

    def _infos(self, database: sqlite3.Connection, cwd: str | None, progress: Progress | None) -> Sequence[SessionInfo]:
        from pi_session_kit.summary import session_info

        rows = [*_rows.rows(database, cwd)]
        found, fresh = [], []
        for done, row in enumerate(rows, 1):
            summary = _known(row)
            if summary is None:
                summary = _made(database, row)
                fresh.append((row, summary))
            if progress is not None:
                progress(done, len(rows))
            if summary is not None:
                read_text = partial(self._text_of, row.number)
                found.append(session_info(summary, row.name, row.modified // 1_000_000, read_text))
        _keep(database, fresh)
        if not any(info.parent_session_path for info in found):
            return found
        root = folder_of(self.place)
        names = {str(root / os.fsdecode(file)): name for file, name in _rows.names_of_files(database).items()}
        return [_with_parent(info, names) for info in found]

    def _text_of(self, number: int) -> str:
        from pi_session_kit.summary import text_of_all

        return _rows.reading(self._path, lambda database: text_of_all(_rows.content(database, number)), "")


def _deleted(database: sqlite3.Connection, name: str) -> _rows.Row | None:
    """Delete a session, also from the database's log; return it, None if it did not exist."""
    with _rows.transaction(database):
        row = _rows.row_of(database, name)
        if row is not None:
            _rows.delete(database, row.number)
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return row


def _known(row: _rows.Row) -> Summary | None:
    from pi_session_kit.summary import Summary

    if row.summary is None or row.summarised != row.size:
        return None
    try:
        return Summary(**json.loads(row.summary))
    except (TypeError, ValueError):  # of another version
        return None


def _made(database: sqlite3.Connection, row: _rows.Row) -> Summary | None:
    from pi_session_kit.lines import NoSession
    from pi_session_kit.summary import summarise

    try:
        return summarise(_rows.content(database, row.number))
    except NoSession:
        return None


def _with_parent(info: SessionInfo, names: Mapping[str, str]) -> SessionInfo:
    """Return a session with its parent's reference: the header of a converted session names the parent's file."""
    parent = names.get(info.parent_session_path or "")
    return info if parent is None else attrs.evolve(info, parent_session_path=parent)


def _keep(database: sqlite3.Connection, fresh: Sequence[tuple[_rows.Row, Summary | None]]) -> None:
    """Cache summaries for the next list; skipped while another process writes, or if the disk is full."""
    sql = "UPDATE sessions SET summary = ?, summarised = ? WHERE number = ?"
    kept = [(json.dumps(attrs.asdict(made)), row.size, row.number) for row, made in fresh if made is not None]
    try:
        if kept:
            with _rows.transaction(database):
                database.executemany(sql, kept)
    except sqlite3.OperationalError:
        pass


def _plain(header: SessionHeader) -> dict[str, object]:
    from pi_core import to_wire

    plain: dict[str, object] = to_wire(header)
    return plain

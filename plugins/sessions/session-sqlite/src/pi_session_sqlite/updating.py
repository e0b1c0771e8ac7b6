"""Updates the index; reads only what has changed in the sessions since the last search."""

from __future__ import annotations

import os
import sqlite3
from operator import attrgetter
from typing import IO, TYPE_CHECKING
from zlib import crc32

from attrs import frozen

from pi_session_sqlite.query import TEXT_END
from pi_session_sqlite.text import parsed, pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pi_session_sqlite.sources import Source, Stored

__all__ = ["latest_within", "update"]

_MARK = 4096
"""Number of bytes before the last read position that are compared before reading continues there."""


@frozen
class _Known:
    """The indexed state of a session.

    Attributes:
        done: How many of its bytes have been read.
        mark: A checksum of the bytes before that position.
        number: Its key.
    """

    path: str
    size: int
    modified: int
    done: int
    mark: int
    number: int


def latest_within(most: int, sessions: Iterable[Stored]) -> list[Stored]:
    """Return the most recently stored sessions, up to a total size in bytes."""
    latest: list[Stored] = []
    for each in sorted(sessions, key=attrgetter("modified"), reverse=True):
        most -= each.size
        if most < 0:
            break
        latest.append(each)
    return latest


def update(
    database: sqlite3.Connection,
    source: Source,
    sessions: Iterable[Stored],
    progress: Callable[[int, int], None] | None = None,
) -> bool:
    """Index what is new in a store's sessions, one transaction for each; remove sessions that no longer exist.

    Returns:
        False if another process kept the database locked: what was indexed before is found, the rest later.
    """
    known = {each.path: each for each in _known(database)}
    present = {each.path: each for each in sessions}
    gone = [path for path in known if path not in present and source.covers(path)]
    changed = [each for each in present.values() if not _same(known.get(each.path), each)]
    changed.sort(key=attrgetter("modified"))  # what was stored last is found first
    forgotten = False
    try:
        for path in gone:
            forgotten |= _in_transaction(database, source, path, None)
        for count, file in enumerate(changed):
            if progress is not None:
                progress(count, len(changed))
            forgotten |= _in_transaction(database, source, file.path, file)
        if forgotten:
            _purge(database)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True


def _known(database: sqlite3.Connection, path: str | None = None) -> Iterator[_Known]:
    where, values = ("", ()) if path is None else (" WHERE path = ?", (os.fsencode(path),))
    for row in database.execute(f"SELECT path, size, modified, done, mark, id FROM files{where}", values):  # noqa: S608
        yield _Known(os.fsdecode(row[0]), *row[1:])


def _same(known: _Known | None, file: Stored) -> bool:
    return known is not None and (known.size, known.modified) == (file.size, file.modified)


def _purge(database: sqlite3.Connection) -> None:
    """Purge the trigrams of removed texts from the database: they may be part of a secret."""
    database.execute("INSERT INTO found (found) VALUES ('optimize')")


def _in_transaction(database: sqlite3.Connection, source: Source, path: str, file: Stored | None) -> bool:
    """Index a session, or remove one that is gone; another process may have done so meanwhile.

    Returns:
        Whether texts were removed.
    """
    database.execute("BEGIN IMMEDIATE")
    forgotten = False
    try:
        known = next(_known(database, path), None)
        if file is None:
            forgotten = _forget(database, known)
        elif not _same(known, file):
            forgotten = _read(database, source, file, known)
    except BaseException:
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")
    return forgotten


def _read(database: sqlite3.Connection, source: Source, file: Stored, known: _Known | None) -> bool:
    forgotten = False
    try:
        with source.open(file.path) as lines:
            if known is not None and not _goes_on(lines, known):
                forgotten = _forget(database, known)
                known = None
            _index(database, lines, file, known)
    except OSError:  # removed or made unreadable meanwhile: what is known of it stays until it can be read
        pass
    return forgotten


def _goes_on(lines: IO[bytes], known: _Known) -> bool:
    """Whether a session still begins with what was read of it; a rewritten one is read again."""
    return known.done <= lines.seek(0, os.SEEK_END) and _mark(lines, known.done) == known.mark


def _mark(lines: IO[bytes], end: int) -> int:
    lines.seek(max(0, end - _MARK))
    return crc32(lines.read(min(end, _MARK)))


def _index(database: sqlite3.Connection, lines: IO[bytes], file: Stored, known: _Known | None) -> None:
    done = known.done if known is not None else 0
    number = known.number if known is not None else None
    lines.seek(done)
    for line in lines:
        if not line.endswith(b"\n"):  # still being written
            break
        done += len(line)
        entry = parsed(line)
        if number is None:
            number = _begin(database, file, entry)
        else:
            _add(database, number, entry)
    values = (file.size, file.modified, done, _mark(lines, done), number)
    if number is None:
        return
    database.execute("UPDATE files SET size = ?, modified = ?, done = ?, mark = ? WHERE id = ?", values)


def _begin(database: sqlite3.Connection, file: Stored, header: dict[str, object]) -> int | None:
    """Store a session file; one without a header is stored, too, without its lines, so that it is not read again."""
    session, cwd = header.get("id"), header.get("cwd")
    row = (os.fsencode(file.path), str(session or ""), cwd if isinstance(cwd, str) else "")
    sql = "INSERT INTO files (path, size, modified, done, mark, session, cwd) VALUES (?, 0, 0, 0, 0, ?, ?)"
    return database.execute(sql, tuple(_plain(each) for each in row)).lastrowid


def _plain(value: bytes | str) -> bytes | str:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _add(database: sqlite3.Connection, number: int, entry: dict[str, object]) -> None:
    for piece in pieces(entry):
        row = (number, _plain(piece.entry), _plain(piece.role), piece.tool and _plain(piece.tool), piece.time)
        sql = "INSERT INTO entries (file, entry, role, tool, time, text) VALUES (?, ?, ?, ?, ?, ?)"
        added = database.execute(sql, (*row, piece.text)).lastrowid
        database.execute("INSERT INTO found (rowid, text) VALUES (?, ?)", (added, piece.text + TEXT_END))


def _forget(database: sqlite3.Connection, known: _Known | None) -> bool:
    if known is None:
        return False
    number = (known.number,)
    sql = "INSERT INTO found (found, rowid, text) SELECT 'delete', id, text || ? FROM entries WHERE file = ?"
    database.execute(sql, (TEXT_END, *number))
    database.execute("DELETE FROM entries WHERE file = ?", number)
    database.execute("DELETE FROM files WHERE id = ?", number)
    return True

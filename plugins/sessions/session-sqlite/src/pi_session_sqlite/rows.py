"""The tables of the session database: a row for each session, and the bytes of each stored line.

A session's concatenated lines, with their line ends, are byte for byte a session file.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import frozen

from pi_hookspecs import UserError
from pi_session_sqlite.sqlite import Foreign, Layout, code_of, connect, is_damage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = [
    "Row",
    "add",
    "content",
    "delete",
    "ends_a_line",
    "insert",
    "latest",
    "names_of_files",
    "open_sessions",
    "plain",
    "reading",
    "row_of",
    "row_of_file",
    "rows",
    "set_file",
    "storage_error",
    "stored",
    "transaction",
    "unusable",
]

_TABLES = """
CREATE TABLE sessions (
    number INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, cwd TEXT NOT NULL, child INTEGER NOT NULL,
    modified INTEGER NOT NULL, size INTEGER NOT NULL, file BLOB, summary TEXT, summarised INTEGER NOT NULL DEFAULT -1);
CREATE INDEX sessions_of_folder ON sessions (cwd, modified);
CREATE TABLE lines (number INTEGER PRIMARY KEY, session INTEGER NOT NULL, line BLOB NOT NULL);
CREATE INDEX lines_of_session ON lines (session);
"""
_LAYOUT = Layout(application=0x70695353, version=1, tables=_TABLES)  # piSS

_COLUMNS = "number, name, modified, size, file, summary, summarised"

_LONGEST = 1 << 28
"""Maximum bytes of one row; a longer line takes several. SQLite's own limit is 10**9."""

_NUMBERS = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_READONLY: errno.EACCES,
    sqlite3.SQLITE_PERM: errno.EACCES,
    sqlite3.SQLITE_CANTOPEN: errno.EACCES,
    sqlite3.SQLITE_BUSY: errno.EBUSY,
    sqlite3.SQLITE_LOCKED: errno.EBUSY,
    sqlite3.SQLITE_TOOBIG: errno.EFBIG,
}


_T = TypeVar("_T")


@frozen
class Row:
    """A session in the database.

    Attributes:
        number: Its key.
        name: Its reference.
        modified: When it was last stored, in nanoseconds since 1970.
        size: Bytes of its lines.
        file: The path of its session file in the folder of sessions, if it was converted from or to one.
        summary: Its summary for lists, as JSON.
        summarised: The size at which the summary was made.
    """

    number: int
    name: str
    modified: int
    size: int
    file: bytes | None
    summary: str | None
    summarised: int


def open_sessions(path: Path) -> sqlite3.Connection:
    """Open the database, creating it if needed.

    Raises:
        UserError: It belongs to another program or a newer pi, is damaged, or cannot be used; it is not changed.
    """
    try:
        return connect(path, _LAYOUT)
    except Foreign as error:
        if error.version is None:
            raise UserError(
                f"{str(path)!r}, where sessions are kept, is a database of another program. Move it to another place"
            ) from None
        raise UserError(
            f"The sessions in {str(path)!r} were stored by a newer pi (version {error.version}, known:"
            f" {_LAYOUT.version}). Update pi to use them"
        ) from None
    except (sqlite3.Error, OSError) as error:
        raise unusable(path, error) from error


def reading(path: Path, work: Callable[[sqlite3.Connection], _T], otherwise: _T) -> _T:
    """Return the result of ``work`` on the database; ``otherwise`` if it does not exist yet.

    Raises:
        UserError: It cannot be used.
    """
    if not path.exists():
        return otherwise
    try:
        with closing(open_sessions(path)) as database:
            return work(database)
    except sqlite3.Error as error:
        raise unusable(path, error) from error


def unusable(path: Path, error: Exception) -> UserError:
    """Return the error for a database that cannot be read."""
    why = getattr(error, "strerror", None) or error
    if isinstance(error, sqlite3.Error) and is_damage(error):
        return UserError(
            f"The database of sessions {str(path)!r} is damaged ({why}), and was left as it is. Put a backup in its"
            " place, or what 'sqlite3 FILE .recover' can read of it"
        )
    if isinstance(error, sqlite3.Error) and code_of(error) == sqlite3.SQLITE_BUSY:
        return UserError(f"The database of sessions {str(path)!r} is in use by another process. Try again")
    return UserError(
        f"The database of sessions {str(path)!r} cannot be used: {why}. Check the folder's space and rights"
    )


def storage_error(path: Path, error: sqlite3.Error) -> OSError:
    """Convert an SQLite error to the corresponding operating system error."""
    code = code_of(error)
    return OSError(_NUMBERS.get(-1 if code is None else code, errno.EIO), str(error), str(path))


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """Make changes atomically; no other process writes meanwhile."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


def rows(database: sqlite3.Connection, cwd: str | None = None) -> Iterator[Row]:
    """Yield the sessions of a working directory, or all, in order of creation."""
    where, values = ("", ()) if cwd is None else (" WHERE cwd = ?", (_folder(cwd),))
    for row in database.execute(f"SELECT {_COLUMNS} FROM sessions{where} ORDER BY number", values).fetchall():  # noqa: S608
        yield Row(*row)


def row_of(database: sqlite3.Connection, name: str) -> Row | None:
    """Return the session with this reference."""
    row = database.execute(f"SELECT {_COLUMNS} FROM sessions WHERE name = ?", (plain(name),)).fetchone()  # noqa: S608
    return None if row is None else Row(*row)


def row_of_file(database: sqlite3.Connection, file: bytes) -> Row | None:
    """Return the session that was converted from or to a session file."""
    row = database.execute(f"SELECT {_COLUMNS} FROM sessions WHERE file = ?", (file,)).fetchone()  # noqa: S608
    return None if row is None else Row(*row)


def stored(database: sqlite3.Connection, name: str) -> tuple[Row, bytes] | None:
    """Return a consistent snapshot of a session and its lines."""
    database.execute("BEGIN")
    try:
        row = row_of(database, name)
        return None if row is None else (row, content(database, row.number))
    finally:
        database.execute("ROLLBACK")


def names_of_files(database: sqlite3.Connection) -> dict[bytes, str]:
    """Return the references of sessions by their session files."""
    return dict(database.execute("SELECT file, name FROM sessions WHERE file IS NOT NULL"))


def latest(database: sqlite3.Connection, cwd: str) -> str | None:
    """Return the reference of a working directory's most recently stored session, except child sessions."""
    sql = "SELECT name FROM sessions WHERE cwd = ? AND NOT child ORDER BY modified DESC, number DESC LIMIT 1"
    row = database.execute(sql, (_folder(cwd),)).fetchone()
    return None if row is None else str(row[0])


def content(database: sqlite3.Connection, number: int) -> bytes:
    """Return the lines of a session."""
    found = database.execute("SELECT line FROM lines WHERE session = ? ORDER BY number", (number,))
    return b"".join(line for (line,) in found)


def ends_a_line(database: sqlite3.Connection, number: int) -> bool:
    """Whether the last line of a session has its line end."""
    sql = "SELECT substr(line, -1) FROM lines WHERE session = ? ORDER BY number DESC LIMIT 1"
    row = database.execute(sql, (number,)).fetchone()
    return row is None or row[0] == b"\n"


def insert(
    database: sqlite3.Connection,
    name: str,
    header: Mapping[str, Any],
    parts: Sequence[bytes],
    *,
    file: bytes | None = None,
    modified: int | None = None,
) -> int:
    """Store a new session, within a transaction; return its number.

    Raises:
        FileExistsError: The reference is taken.
    """
    cwd = header.get("cwd")
    values = (plain(name), _folder(cwd) if isinstance(cwd, str) and cwd else "", "parentCall" in header, file)
    sql = "INSERT INTO sessions (name, cwd, child, file, modified, size) VALUES (?, ?, ?, ?, 0, 0)"
    try:
        number = database.execute(sql, values).lastrowid
    except sqlite3.IntegrityError:
        raise FileExistsError(errno.EEXIST, "A session with this reference is stored already", name) from None
    assert number is not None  # noqa: S101 - a row was inserted
    add(database, number, parts, modified)
    return number


def add(database: sqlite3.Connection, number: int, parts: Sequence[bytes], modified: int | None = None) -> int:
    """Append lines, with their line ends, to a session within a transaction; return their size."""
    size = 0
    for part in parts:
        size += len(part)
        for start in range(0, len(part), _LONGEST):
            row = (number, part[start : start + _LONGEST])
            database.execute("INSERT INTO lines (session, line) VALUES (?, ?)", row)
    now = time.time_ns() if modified is None else modified
    database.execute("UPDATE sessions SET size = size + ?, modified = ? WHERE number = ?", (size, now, number))
    return size


def set_file(database: sqlite3.Connection, number: int, file: bytes) -> None:
    """Record the session file that a session has been converted from or to, within a transaction."""
    database.execute("UPDATE sessions SET file = ? WHERE number = ?", (file, number))


def delete(database: sqlite3.Connection, number: int) -> None:
    """Remove a session, within a transaction."""
    database.execute("DELETE FROM lines WHERE session = ?", (number,))
    database.execute("DELETE FROM sessions WHERE number = ?", (number,))


def plain(text: str) -> str:
    """Return a text without lone surrogates, which SQLite cannot store."""
    return text.encode("utf-8", "replace").decode()


def _folder(cwd: str) -> str:
    return plain(os.path.abspath(cwd))  # noqa: PTH100 - must not resolve links

"""Opens this plugin's databases, private to the user; detects files of other programs and newer versions."""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING

from attrs import frozen

from pi_session_kit.folders import make_folder

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Foreign", "Layout", "Outdated", "code_of", "connect", "is_damage"]

_PATIENCE = 2.0
"""Seconds to wait while another process holds a database."""


@frozen
class Layout:
    """The layout of a database.

    Attributes:
        application: The application id in the file's header, which distinguishes it from other programs' databases.
        version: Version of the tables.
        tables: The statements that create the tables.
    """

    application: int
    version: int
    tables: str


class Foreign(Exception):
    """The file is from another program or a newer version of this plugin; it was not changed.

    Attributes:
        version: The version of the tables if they are from a newer pi; None for another program's database.
    """

    def __init__(self, version: int | None) -> None:
        super().__init__(version)
        self.version = version


class Outdated(Exception):
    """The tables are from an older version of this plugin; the file was not changed."""


def connect(path: Path, layout: Layout) -> sqlite3.Connection:
    """Open a database, creating it if needed.

    Transactions are the caller's; the connection may be used from several threads, one after the other.

    Raises:
        Foreign: It belongs to another program or a newer version.
        Outdated: It is from an older version.
        OSError: Its file cannot be created.
        sqlite3.Error: It is damaged, or cannot be used.
    """
    _reserve(path)
    connection = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
    try:
        version = _checked_version(connection, layout)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA secure_delete=ON")
        if version == 0:
            _make_tables(connection, layout)
    except BaseException:
        connection.close()
        raise
    return connection


def is_damage(error: sqlite3.Error) -> bool:
    """Whether an error means that the content of the file is damaged."""
    return code_of(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def code_of(error: sqlite3.Error) -> int | None:
    """Return the primary code of an error; None for one that does not come from SQLite."""
    code = getattr(error, "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else None


def _reserve(path: Path) -> None:
    """Create the file before SQLite does, so that only its user can read it.

    An existing file is not opened: closing it would release this process's SQLite locks on it.
    """
    make_folder(path.parent)
    if not path.exists():
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def _checked_version(connection: sqlite3.Connection, layout: Layout) -> int:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if application != layout.application and connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise Foreign(None)
    if version > layout.version:
        raise Foreign(version)
    if 0 < version < layout.version:
        raise Outdated
    return version


def _make_tables(connection: sqlite3.Connection, layout: Layout) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        if connection.execute("PRAGMA user_version").fetchone()[0] == 0:  # no other process has made them meanwhile
            for statement in layout.tables.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id={layout.application}")
            connection.execute(f"PRAGMA user_version={layout.version}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")

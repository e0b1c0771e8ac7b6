"""Opens a stored session: its entries, its header, and notices about lines that cannot be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs.errors import UserError
from pi_session_kit.entries import StoredEntries
from pi_session_kit.header import header_of
from pi_session_kit.lines import VERSION, NoSession, read_lines
from pi_session_kit.migration import migrated
from pi_session_kit.notices import damage_recorder, notices_of
from pi_session_sqlite.session import SqliteSession

if TYPE_CHECKING:
    from pathlib import Path

    from pi_hookspecs.session_store import SyncPolicy
    from pi_session_sqlite.rows import Row

__all__ = ["open_session"]


def open_session(row: Row, data: bytes, path: Path, sync: SyncPolicy) -> SqliteSession:
    """Return a session of the database.

    Raises:
        UserError: The stored data under this reference is not a session.
    """
    try:
        lines = read_lines(data)
    except NoSession as error:
        raise UserError(f"The session {row.name!r} in {str(path)!r} cannot be read: {error}") from None
    if lines.version < VERSION:
        lines = read_lines(migrated(lines))
    name, fsck = repr(row.name), "pi sessions convert --to jsonl makes a file that pi sessions fsck can check"
    notices = notices_of(name, lines, fsck)
    entries = StoredEntries(lines, damage_recorder(name, notices, fsck))
    return SqliteSession(header_of(lines), row.name, path, sync, row=row, entries=entries, notices=notices)

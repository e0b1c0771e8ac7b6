"""Opens the index: a SQLite database in the agent directory's ``cache``, rebuilt if it is damaged."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING

from pi_hookspecs import UserError
from pi_session_sqlite.sqlite import Foreign, Layout, Outdated, connect, is_damage

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["forget", "open_database"]

_TABLES = """
CREATE TABLE files (
    id INTEGER PRIMARY KEY, path BLOB UNIQUE NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL,
    done INTEGER NOT NULL, mark INTEGER NOT NULL, session TEXT NOT NULL, cwd TEXT NOT NULL);
CREATE TABLE entries (
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL, entry TEXT NOT NULL, role TEXT NOT NULL, tool TEXT,
    time INTEGER NOT NULL, text TEXT NOT NULL);
CREATE INDEX entries_of_file ON entries (file);
CREATE VIRTUAL TABLE found USING fts5 (
    text, content='entries', content_rowid='id', tokenize='trigram', detail='none');
CREATE VIRTUAL TABLE trigrams USING fts5vocab (found, instance);
"""
"""The index does not store positions of trigrams, which halves its size; texts are compared afterwards."""

_LAYOUT = Layout(application=0x70695349, version=3, tables=_TABLES)  # piSI


def open_database(path: Path) -> sqlite3.Connection:
    """Open the index, creating it if needed; one that is damaged or from an older pi is replaced.

    Raises:
        UserError: The file belongs to another program or a newer pi, or cannot be opened or created.
    """
    try:
        try:
            return connect(path, _LAYOUT)
        except Outdated:
            pass
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
        forget(path)
        return connect(path, _LAYOUT)
    except Foreign as error:
        raise _foreign(path, error.version) from None
    except (sqlite3.Error, OSError) as error:
        why = getattr(error, "strerror", None) or error
        raise UserError(
            f"The search index {str(path)!r} cannot be used: {why}. Check the folder's free space and permissions, "
            f"or remove the"
            " file; the next search rebuilds it from the sessions, which are unchanged."
        ) from error


def forget(path: Path) -> None:
    """Remove the index; the next search rebuilds it from the sessions."""
    for ending in ("", "-wal", "-shm"):
        with suppress(OSError):
            path.with_name(path.name + ending).unlink()


def _foreign(path: Path, version: int | None) -> UserError:
    if version is None:
        return UserError(
            f"The search index {str(path)!r} is a database of another program. Move it to another place; the next "
            f"search rebuilds the index from the sessions, which are unchanged."
        )
    return UserError(
        f"The search index {str(path)!r} was made by a newer pi (version {version}, known: {_LAYOUT.version}). Update"
        " pi, or remove the file; the next search rebuilds it from the sessions, which are unchanged."
    )

"""Where the sessions of a store and their index are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pi_hookspecs import SessionPlace
    from pi_session_sqlite.index import SearchIndex
    from pi_session_sqlite.sources import Source

__all__ = ["database_of", "folder_of", "folders_of", "index_of", "is_searchable"]

_INDEXES = {"jsonl": "search.sqlite", "sqlite": "search-database.sqlite"}
"""The index file of each searchable store."""

_DATABASE = "sessions.sqlite"


def database_of(place: SessionPlace) -> Path:
    """Return the path of the database of sessions: in pi's folder, or in the user's folder for sessions."""
    return (place.session_dir or place.agent_dir) / _DATABASE


def folder_of(place: SessionPlace) -> Path:
    """Return the folder of session files."""
    return place.session_dir or place.agent_dir / "sessions"


def folders_of(place: SessionPlace) -> list[str]:
    """Return the folders with session files: one for each working directory, or the user's folder for sessions."""
    if place.session_dir is not None:
        return [str(place.session_dir)]
    try:
        return sorted(entry.path for entry in os.scandir(folder_of(place)) if entry.is_dir())
    except OSError:
        return []


def is_searchable(store: str) -> bool:
    """Whether the sessions of a store can be indexed."""
    return store in _INDEXES


def index_of(store: str, place: SessionPlace, also: Iterable[Path] = ()) -> SearchIndex:
    """Open the index of the sessions of all working directories.

    Args:
        store: The name of their store.
        place: The folder or database that contains them.
        also: Further folders of session files.

    Raises:
        UserError: The index cannot be used, or the store cannot be indexed.
    """
    from pi_session_sqlite.index import SearchIndex
    from pi_session_sqlite.sources import Files, Rows

    if not is_searchable(store):
        raise UserError(f"The sessions of the store {store!r} are not indexed: only those of 'jsonl' and 'sqlite' are")
    source: Source = Rows(database_of(place))
    if store == "jsonl":
        source = Files(list(dict.fromkeys([*folders_of(place), *map(str, also)])))
    return SearchIndex(place.agent_dir / "cache" / _INDEXES[store], source)

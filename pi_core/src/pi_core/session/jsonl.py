"""Exports a branch as a separate session file, and imports session files into the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from pi_core.base.paths import expand_home
from pi_core.base.replacing import replace_file
from pi_core.session.forks import is_empty
from pi_core.session.stores import jsonl_store
from pi_core.session.tree import DAMAGED
from pi_hookspecs.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from pi_core.session.open_session import OpenSession
    from pi_core.session.stores import ChosenStore
    from pi_hookspecs import StoredSession

__all__ = ["NOTHING_TO_EXPORT", "export_jsonl", "import_jsonl", "write_whole"]

NOTHING_TO_EXPORT = "Nothing to export yet - start a conversation first"


def export_jsonl(session: OpenSession, path: str | Path, clean: Callable[[str], str] = str) -> Path:
    """Write header and branch as lines of JSON, atomically.

    Args:
        session: The session.
        path: The file.
        clean: Returns a text without secrets.

    Raises:
        UserError: There is nothing to export yet, or the file cannot be written.
    """
    if not any(True for _ in session.get_branch().of_type("message")):
        raise UserError(NOTHING_TO_EXPORT)
    return write_whole(path, _lines(session, clean))


def write_whole(path: str | Path, parts: Iterable[bytes]) -> Path:
    """Write an exported file atomically and return its path. Only the user can read the file.

    Raises:
        UserError: The file cannot be written.
    """
    target = expand_home(path)
    try:
        replace_file(target, parts, mode=0o600, keep=False)
    except OSError as error:
        raise UserError(f"Cannot export to {str(path)!r}: {error.strerror or error}. Choose another file.") from error
    return target


def _lines(session: OpenSession, clean: Callable[[str], str]) -> Iterator[bytes]:
    from pi_core.base.mapped_texts import map_texts
    from pi_core.wire.converter import dumps

    yield dumps(session.header) + b"\n"
    parent: str | None = None
    for entry in session.get_branch():
        if entry.type == DAMAGED:  # its line number and reason only apply to the original file
            continue
        # An entry whose parent is missing becomes a root.
        chained = entry if entry.parent_id == parent else evolve(entry, parent_id=parent)
        yield dumps(map_texts(chained, clean)) + b"\n"
        parent = entry.id


def import_jsonl(chosen: ChosenStore, path: str | Path) -> StoredSession:
    """Copy a session file of any version into a store; return the copy.

    Raises:
        UserError: The file is not a session, a session with its id is already stored, or it cannot be stored.
    """
    reader = jsonl_store(chosen)
    source = reader.store.open(str(expand_home(path)))
    try:
        if is_empty(source):
            raise UserError(f"Cannot import {str(path)!r}: it is empty.")
        if reader is chosen:
            return chosen.store.fork(source, source.header, range(len(source.entries)))
        copy = chosen.store.create(source.header)
        copy.append([source.entries[number] for number in range(len(source.entries))])
        copy.close()
        return chosen.store.open(copy.reference)
    except FileExistsError as error:
        raise UserError(
            f"A session with the id {source.header.id!r} is already stored: {str(error.filename)!r}. Open it, or fork "
            "the file into a new session with --fork."
        ) from error
    except OSError as error:
        raise UserError(f"Cannot import {str(path)!r}: {error.strerror or error}.") from error
    finally:
        source.close()

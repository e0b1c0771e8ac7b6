"""Forks: a new stored session with all entries of another session, or with one path of its tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pi_core.session.lookup import new_header
from pi_hookspecs.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pi_core.session.open_session import OpenSession
    from pi_core.session.stores import ChosenStore
    from pi_hookspecs import SessionEntry, SessionHeader, StoredSession

__all__ = ["Fork", "fork_path", "fork_stored", "is_empty"]


class Fork(NamedTuple):
    """A new session, whether it has stored entries, and the entries that are not stored yet."""

    stored: StoredSession
    begun: bool
    waiting: Sequence[SessionEntry]


def fork_path(chosen: ChosenStore, session: OpenSession, numbers: Sequence[int]) -> Fork:
    """Return a new session with some entries of a session, stored immediately if they contain an answer.

    Raises:
        OSError: The new session could not be stored.
    """
    writer = session.writer
    is_stored = writer.begun and writer.flush()
    parent = writer.stored.reference if writer.begun and not chosen.in_memory else None
    header, has_answer = new_header(session.header.cwd, None, parent), session.holds_answer(numbers)
    if is_stored and has_answer:
        return Fork(chosen.store.fork(writer.stored, header, numbers), begun=True, waiting=())
    waiting = [session.tree.entry(number) for number in numbers]
    return Fork(chosen.store.create(header), begun=writer.begun and has_answer, waiting=waiting)


def fork_stored(chosen: ChosenStore, source_path: str | Path, header: SessionHeader) -> StoredSession:
    """Copy a stored session, with all branches, into a session with another header.

    Raises:
        UserError: There is nothing to copy.
        OSError: The copy could not be stored.
    """
    problem = f"Cannot fork: source session file is empty or invalid: {source_path}"
    try:
        source = chosen.store.open(str(source_path))
    except UserError as error:
        raise UserError(f"{problem} ({error})") from error
    try:
        if is_empty(source):
            raise UserError(problem)
        return chosen.store.fork(source, header, range(len(source.entries)))
    finally:
        source.close()


def is_empty(stored: StoredSession) -> bool:
    """Return whether a stored session is an empty file, which opens as a new session and has nothing to copy."""
    return stored.file is not None and stored.file.stat().st_size == 0

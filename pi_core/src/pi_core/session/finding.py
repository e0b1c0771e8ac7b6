"""Finding stored sessions: lists of them, one by the beginning of its id, and what a path means."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pi_core.session.ids import checked_session_id, timestamp
from pi_hookspecs.entries import SessionHeader
from pi_hookspecs.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_core.session.stores import ChosenStore
    from pi_hookspecs import SessionInfo, StoredSession

__all__ = ["find_by_prefix", "is_empty", "new_header", "newest_except", "open_or_create"]

_SHOWN = 10


def new_header(cwd: str | Path | None, session_id: str | None = None, parent: str | None = None) -> SessionHeader:
    """Return the header of a new session.

    Raises:
        UserError: The id cannot be one.
    """
    where = os.path.abspath(cwd or Path.cwd())  # noqa: PTH100 - a session belongs to the path as written: no links followed
    return SessionHeader(id=checked_session_id(session_id), timestamp=timestamp(), cwd=where, parent_session=parent)


def open_or_create(chosen: ChosenStore, path: str | Path, cwd: str | Path | None) -> tuple[StoredSession, bool]:
    """Return the session that is stored under a path, or a new one that keeps the path; and whether it has begun.

    Raises:
        UserError: What is there is no session.
    """
    try:
        stored = chosen.store.open(str(path))
    except UserError:
        if not _could_be_made(path):
            raise
        return chosen.store.create(new_header(cwd), str(path)), False
    return stored, len(stored.entries) > 0


def newest_except(reference: str, chosen: ChosenStore, cwd: str) -> StoredSession | None:
    """Return the newest session of a working directory that can be opened, apart from one; None where there is none."""
    for info in chosen.store.list(cwd):
        if info.path != reference:
            with suppress(UserError):
                return chosen.store.open(info.path)
    return None


def is_empty(stored: StoredSession) -> bool:
    """Whether a stored session is a file with nothing in it, which opens as a new session: there is none to copy."""
    return stored.file is not None and stored.file.stat().st_size == 0


def _could_be_made(path: str | Path) -> bool:
    """Whether a path is one of a file that is not there: an id, which some stores open, is none."""
    return Path(path).name != str(path) and not os.path.lexists(path)


def find_by_prefix(partial_id: str, sessions: Sequence[SessionInfo], cwd: str) -> SessionInfo:
    """Return the session whose id begins like this, of those of the working directory if one does.

    Of several files with one id, a session and its repaired copy, the first counts.

    Raises:
        UserError: None does, or several do.
    """
    for group in ([each for each in sessions if each.cwd == cwd], sessions):
        found = [each for each in group if partial_id and each.id.startswith(partial_id)]
        exact = [each for each in found if each.id == partial_id]
        if exact or len({each.id for each in found}) == 1:
            return (exact or found)[0]
        if found:
            raise UserError(_ambiguous(partial_id, found))
    raise UserError(f"No session found matching {partial_id!r}. pi sessions list shows what there is")


def _ambiguous(partial_id: str, found: Sequence[SessionInfo]) -> str:
    told = [f"{each.id} ({each.modified:%Y-%m-%d %H:%M}, {each.name or each.first_message:.40})" for each in found]
    more = [f"and {len(told) - _SHOWN} more"] if len(told) > _SHOWN else []
    return f"{len(found)} sessions match {partial_id!r}; write more of the id: {'; '.join([*told[:_SHOWN], *more])}"

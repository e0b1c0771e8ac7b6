"""Looks up stored sessions: lists of sessions, the latest one, or one by the prefix of its id or by path."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pi_core.session.ids import timestamp, validate_session_id
from pi_core.session.stores import resolve_store
from pi_hookspecs.entries import SessionHeader
from pi_hookspecs.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_core.host import PluginHost
    from pi_core.session.stores import ChosenStore
    from pi_hookspecs import Progress, SessionInfo, StoredSession

__all__ = [
    "find_by_prefix",
    "find_session",
    "find_session_by_id",
    "list_all_sessions",
    "list_sessions",
    "new_header",
    "open_latest",
    "open_or_create",
]

_LISTED = 10
"""Maximum number of sessions in the error for an ambiguous id."""


def new_header(cwd: str | Path | None, session_id: str | None = None, parent: str | None = None) -> SessionHeader:
    """Return the header of a new session.

    Raises:
        UserError: The id is not valid.
    """
    path = os.path.abspath(cwd or Path.cwd())  # noqa: PTH100 - must not resolve links
    return SessionHeader(id=validate_session_id(session_id), timestamp=timestamp(), cwd=path, parent_session=parent)


# Lists and single sessions


def list_sessions(
    cwd: str | Path | None = None,
    session_dir: str | Path | None = None,
    on_progress: Progress | None = None,
    *,
    host: PluginHost | None = None,
    environ: Mapping[str, str] | None = None,
) -> Sequence[SessionInfo]:
    """List the stored sessions of a working directory, the most recently modified first.

    This may read many files, so front ends call it with ``asyncio.to_thread`` to stay responsive.
    """
    chosen = resolve_store(cwd, session_dir, host=host, environ=environ)
    return chosen.store.list(new_header(cwd).cwd, on_progress)


def list_all_sessions(
    on_progress: Progress | None = None,
    *,
    session_dir: str | Path | None = None,
    host: PluginHost | None = None,
    environ: Mapping[str, str] | None = None,
) -> Sequence[SessionInfo]:
    """List the stored sessions of all working directories, the most recently modified first."""
    return resolve_store(None, session_dir, host=host, environ=environ).store.list(None, on_progress)


def find_session(
    partial_id: str,
    cwd: str | Path | None = None,
    session_dir: str | Path | None = None,
    *,
    host: PluginHost | None = None,
    environ: Mapping[str, str] | None = None,
) -> SessionInfo:
    """Return the stored session whose id has this prefix; the working directory's sessions are searched first.

    Raises:
        UserError: No session matches, or several match and the message lists them.
    """
    sessions = list_all_sessions(session_dir=session_dir, host=host, environ=environ)
    return find_by_prefix(partial_id, sessions, new_header(cwd).cwd)


def find_session_by_id(
    session_id: str,
    session_dir: str | Path | None = None,
    *,
    cwd: str | Path | None = None,
    host: PluginHost | None = None,
    environ: Mapping[str, str] | None = None,
) -> SessionInfo | None:
    """Return the stored session with exactly this id, the newest if there are several; None if there is none.

    Args:
        session_id: The complete id.
        session_dir: The folder for sessions; see ``SessionManager``.
        cwd: Search only the sessions of this working directory.
        host: The plugins; see ``SessionManager``.
        environ: Environment variables; None uses the environment of the process.
    """
    chosen = resolve_store(cwd, session_dir, host=host, environ=environ)
    sessions = chosen.store.list(None if cwd is None else new_header(cwd).cwd)
    return next((each for each in sessions if each.id == session_id), None)


def find_by_prefix(partial_id: str, sessions: Sequence[SessionInfo], cwd: str) -> SessionInfo:
    """Return the session whose id has a prefix; sessions of the working directory come first.

    If several files have the same id, such as a session and its repaired copy, the first is returned.

    Raises:
        UserError: No session matches, or several match.
    """
    for group in ([each for each in sessions if each.cwd == cwd], sessions):
        found = [each for each in group if partial_id and each.id.startswith(partial_id)]
        exact = [each for each in found if each.id == partial_id]
        if exact or len({each.id for each in found}) == 1:
            return (exact or found)[0]
        if found:
            raise UserError(_ambiguous(partial_id, found))
    raise UserError(f"No session found matching {partial_id!r}. pi sessions list shows them (see pi help sessions)")


def _ambiguous(partial_id: str, found: Sequence[SessionInfo]) -> str:
    lines = [f"{each.id} ({each.modified:%Y-%m-%d %H:%M}, {each.name or each.first_message:.40})" for each in found]
    more = [f"and {len(lines) - _LISTED} more"] if len(lines) > _LISTED else []
    return f"{len(found)} sessions match {partial_id!r}; give more of the id: {'; '.join([*lines[:_LISTED], *more])}"


# Opening stored sessions


def open_or_create(chosen: ChosenStore, path: str | Path, cwd: str | Path | None) -> tuple[StoredSession, bool]:
    """Return the session stored under a path or a new session with this path, and whether it has stored entries.

    Raises:
        UserError: The file at the path is not a session.
    """
    try:
        stored = chosen.store.open(str(path))
    except UserError:
        if not _can_create(path):
            raise
        return chosen.store.create(new_header(cwd), str(path)), False
    return stored, len(stored.entries) > 0


def open_latest(chosen: ChosenStore, cwd: str) -> tuple[StoredSession | None, Sequence[str]]:
    """Return a working directory's latest session that can be opened, and a notice if a later session cannot.

    The session is None if there is none.
    """
    latest = chosen.store.latest(cwd)
    if latest is None:
        return None, ()
    try:
        return chosen.store.open(latest), ()
    except UserError as error:
        previous = _newest_except(latest, chosen, cwd)
        which = "a new one" if previous is None else "the one before"
        return previous, [f"The last session could not be opened; this is {which}. {error}"]


def _newest_except(reference: str, chosen: ChosenStore, cwd: str) -> StoredSession | None:
    for info in chosen.store.list(cwd):
        if info.path != reference:
            with suppress(UserError):
                return chosen.store.open(info.path)
    return None


def _can_create(path: str | Path) -> bool:
    """Return whether a path names a missing file; a plain id, which some stores open, is not a path."""
    return Path(path).name != str(path) and not os.path.lexists(path)

"""Opens session files: validation, migration, and notices for the user."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pi_hookspecs.errors import UserError
from pi_session_jsonl.file import SessionFile
from pi_session_jsonl.migrate import replace_with
from pi_session_jsonl.place import absolute
from pi_session_jsonl.session import JsonlSession, in_use
from pi_session_kit.entries import StoredEntries
from pi_session_kit.header import header_of
from pi_session_kit.lines import VERSION, NoSession, read_lines
from pi_session_kit.migration import migrated
from pi_session_kit.notices import damage_recorder, notices_of

if TYPE_CHECKING:
    from pi_hookspecs.session_store import SyncPolicy
    from pi_session_kit.lines import Lines

__all__ = ["open_session"]

_FSCK = "pi sessions fsck lists them"


def open_session(reference: str, sync: SyncPolicy) -> JsonlSession:
    """Return the session in a file; one of an older version is migrated, an empty one is a new session.

    Raises:
        UserError: It cannot be read or is not a session.
    """
    path = Path(absolute(reference))
    file = _opened(path)
    try:
        data = file.read()
        if not data:
            from pi_core import new_header

            file.close()
            return JsonlSession(new_header(None), path, sync)
        file, lines, notices = _migrated(file, read_lines(data))
    except NoSession:
        file.close()
        raise UserError(f"Session file is not a valid pi session: {path}") from None
    except OSError as error:
        file.close()
        raise _unreadable(path, error) from error
    notices += _notices(file, lines)
    entries = StoredEntries(lines, damage_recorder(repr(str(path)), notices, _FSCK))
    return JsonlSession(header_of(lines), path, sync, file=file, entries=entries, notices=notices)


def _opened(path: Path) -> SessionFile:
    try:
        return SessionFile.open(path)
    except FileNotFoundError:
        raise UserError(f"There is no session file {str(path)!r}") from None
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> UserError:
    if path.is_dir():
        return UserError(f"{str(path)!r} is a directory. Give the path of a session file in it")
    return UserError(f"Cannot read the session file {str(path)!r}: {error.strerror or error}")


def _migrated(file: SessionFile, lines: Lines) -> tuple[SessionFile, Lines, list[str]]:
    """Migrate a file of an older version; where it cannot be written, only in memory."""
    if lines.version >= VERSION:
        return file, lines, []
    data = migrated(lines)
    if not file.writable or not file.locked:
        why = "it is read-only" if not file.writable else "another process is using it"
        return file, read_lines(data), [_not_written(file, lines, why)]
    try:
        backup = replace_with(file.path, data, len(lines.data), lines.version)
    except OSError as error:
        return file, read_lines(data), [_not_written(file, lines, str(error.strerror or error))]
    file.close()
    notice = f"The session {str(file.path)!r} now has version {VERSION}; the original is kept as {str(backup)!r}."
    return SessionFile.open(file.path), read_lines(data), [notice]


def _not_written(file: SessionFile, lines: Lines, why: str) -> str:
    return f"The session file {str(file.path)!r} has version {lines.version} and was not converted: {why}."


def _notices(file: SessionFile, lines: Lines) -> list[str]:
    """Return the notices for the user about an opened file."""
    name = repr(str(file.path))
    notices = notices_of(name, lines, _FSCK)
    if not file.writable:
        notices.append(f"{name} is read-only: new messages cannot be stored in it.")
    if not file.locked:
        notices.append(in_use(file))
    return notices

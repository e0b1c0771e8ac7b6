"""Opens session files: validation, migration, and notices for the user."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pi_hookspecs.errors import UserError
from pi_session_jsonl._entries import StoredEntries
from pi_session_jsonl._file import SessionFile
from pi_session_jsonl._lines import VERSION, NoSession, read_lines
from pi_session_jsonl._migrate import migrated, replace_with
from pi_session_jsonl._place import absolute
from pi_session_jsonl._session import JsonlSession, in_use

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs.entries import SessionHeader
    from pi_hookspecs.session_store import SyncPolicy
    from pi_session_jsonl._lines import Lines

__all__ = ["open_session"]

_SHOWN = 3
"""Damaged lines that are reported one by one."""


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
            from pi_core.session.lookup import new_header

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
    entries = StoredEntries(lines, _damage_recorder(file, notices))
    return JsonlSession(_header(lines), path, sync, file=file, entries=entries, notices=notices)


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


def _header(lines: Lines) -> SessionHeader:
    """Return the header; missing fields are empty."""
    from pi_core.wire import header_from_wire

    plain = dict(lines.header)
    for key in ("cwd", "timestamp"):
        if not isinstance(plain.get(key), str):
            plain[key] = ""
    for key in ("parentSession", "branchedFrom"):
        if not isinstance(plain.get(key), str):
            plain.pop(key, None)
    return header_from_wire({**plain, "version": lines.version})


def _migrated(file: SessionFile, lines: Lines) -> tuple[SessionFile, Lines, list[str]]:
    """Migrate a file of an older version; where it cannot be written, only in memory."""
    if lines.version >= VERSION:
        return file, lines, []
    data = migrated(lines)
    if not file.writable or not file.locked:
        why = "it may only be read" if not file.writable else "another process works on it"
        return file, read_lines(data), [_not_written(file, lines, why)]
    try:
        backup = replace_with(file.path, data, len(lines.data), lines.version)
    except OSError as error:
        return file, read_lines(data), [_not_written(file, lines, str(error.strerror or error))]
    file.close()
    notice = f"The session {str(file.path)!r} now has version {VERSION}; as it was before, it is in {str(backup)!r}."
    return SessionFile.open(file.path), read_lines(data), [notice]


def _not_written(file: SessionFile, lines: Lines, why: str) -> str:
    return f"The session file {str(file.path)!r} has version {lines.version} and stays as it is: {why}."


def _damage_recorder(file: SessionFile, notices: list[str]) -> Callable[[int, str], None]:
    """Return a callback that records damage found on access: each line once, and at most a few."""
    reported: set[int] = set()

    def record(line: int, reason: str) -> None:
        if line in reported or len(reported) > _SHOWN:
            return
        reported.add(line)
        name = repr(str(file.path))
        notices.append(
            f"Line {line} of {name} was left out: {reason}."
            if len(reported) <= _SHOWN
            else f"More lines of {name} were left out; pi sessions fsck lists them."
        )

    return record


def _notices(file: SessionFile, lines: Lines) -> list[str]:
    """Return the notices for the user about an opened file."""
    name = repr(str(file.path))
    notices = [
        f"Line {lines.number_of(damage.start)} of {name} was left out: {damage.reason}."
        for damage in lines.damage[:_SHOWN]
    ]
    if len(lines.damage) > _SHOWN:
        notices.append(f"{len(lines.damage) - _SHOWN} more lines of {name} were left out; pi sessions fsck lists them.")
    if lines.torn is not None:
        notices.append(f"The last line of {name} was not written to its end and was left out; it stays in the file.")
    if lines.version > VERSION:
        notices.append(
            f"{name} was written by a newer pi (version {lines.version}); what is new in it is kept, not used."
        )
    if not file.writable:
        notices.append(f"{name} may only be read: what is said from here on cannot be stored in it.")
    if not file.locked:
        notices.append(in_use(file))
    return notices

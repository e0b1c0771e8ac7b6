"""The store ``jsonl``: sessions as files, found, opened and copied (pi.md 7.1, 7.4)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define

from pi_hookspecs.errors import UserError
from pi_session_jsonl import _listing, _place
from pi_session_jsonl._entries import StoredEntries
from pi_session_jsonl._file import SessionFile
from pi_session_jsonl._lines import VERSION, NoSession, read_lines
from pi_session_jsonl._migrate import migrated, replace_with
from pi_session_jsonl._session import JsonlSession, header_line, in_use

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pi_hookspecs.entries import SessionHeader
    from pi_hookspecs.session_store import SessionInfo, SessionPlace, StoredSession
    from pi_session_jsonl._lines import Lines

__all__ = ["JsonlSessionStore"]

_SHOWN = 3
"""Damaged lines that are told of one by one."""


@define(eq=False)
class JsonlSessionStore:
    """Implements ``SessionStore``: one file for each session."""

    place: SessionPlace
    name = "jsonl"

    def create(self, header: SessionHeader, reference: str | None = None) -> JsonlSession:
        """Prepare a new session; its file is made by the first append, where nothing may be by then."""
        path = _place.file_for(self.place, header) if reference is None else Path(_place.absolute(reference))
        return JsonlSession(header, path, self.place.sync)

    def open(self, reference: str) -> JsonlSession:
        """Open a session file; one of an older version is migrated, an empty one is a new session.

        Raises:
            UserError: It cannot be read or holds no session.
        """
        path = Path(_place.absolute(reference))
        file = _opened(path)
        try:
            data = file.read()
            if not data:
                from pi_core.session.finding import new_header

                file.close()
                return self.create(new_header(None), reference)
            file, lines, notices = _migrated(file, read_lines(data))
        except NoSession:
            file.close()
            raise UserError(f"Session file is not a valid pi session: {path}") from None
        except OSError as error:
            file.close()
            raise _unreadable(path, error) from error
        notices += _notices(file, lines)
        header = _header(lines)
        return JsonlSession(header, path, self.place.sync, file=file, entries=StoredEntries(lines), notices=notices)

    def list(self, cwd: str | None = None, progress: Callable[[int, int], None] | None = None) -> Sequence[SessionInfo]:
        """List the sessions of a working directory, or all, the most recently modified first."""
        folders = _place.all_files(self.place) if cwd is None else [_place.files_of(self.place, cwd)]
        found = _listing.list_sessions(folders, self.place.agent_dir / "cache", progress)
        if cwd is None or self.place.session_dir is None:
            return found
        return [info for info in found if _place.same_cwd(info.cwd, cwd)]

    def latest(self, cwd: str) -> str | None:
        """Return the path of the session of a working directory that was written to last; only headers are read."""
        files = sorted(_place.files_of(self.place, cwd), key=lambda file: file.modified, reverse=True)
        for file in files:
            header = _listing.header_of(file.path)
            if header and (self.place.session_dir is None or _place.same_cwd(header.get("cwd"), cwd)):
                return file.path
        return None

    def fork(self, source: StoredSession, header: SessionHeader, numbers: Sequence[int]) -> JsonlSession:
        """Make a new session of another one's entries; out of a file they are copied byte for byte.

        Raises:
            OSError: It could not be stored; nothing is left of it.
        """
        path = _place.file_for(self.place, header)
        lines = [header_line(header), *_raw_lines(source, numbers)]
        file = SessionFile.create(path)
        try:
            file.append(lines)
            if self.place.sync != "never":
                file.sync()
        except OSError:
            file.discard()
            raise
        file.close()
        return self.open(str(path))


def _raw_lines(source: StoredSession, numbers: Sequence[int]) -> Iterator[bytes]:
    if isinstance(source, JsonlSession):
        return source.raw_lines(numbers)
    from pi_core.wire import dumps

    return (dumps(source.entries[number]) for number in numbers)


# Opening


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
    """Return the header; what it should say and does not is empty."""
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
    """Bring a file of an older version up to date; where it cannot be written, only what is in memory."""
    if lines.version >= VERSION:
        return file, lines, []
    data = migrated(lines)
    if not file.writable or not file.locked:
        why = "it may only be read" if not file.writable else "somebody else works on it"
        return file, read_lines(data), [_not_written(file, lines, why)]
    try:
        backup = replace_with(file.path, data, len(lines.data), lines.version)
    except OSError as error:
        return file, read_lines(data), [_not_written(file, lines, str(error.strerror or error))]
    file.close()
    said = f"The session {str(file.path)!r} now has version {VERSION}; as it was before, it is in {str(backup)!r}."
    return SessionFile.open(file.path), read_lines(data), [said]


def _not_written(file: SessionFile, lines: Lines, why: str) -> str:
    return f"The session file {str(file.path)!r} has version {lines.version} and stays as it is: {why}."


def _notices(file: SessionFile, lines: Lines) -> list[str]:
    """Say what the user should know of a file that was opened."""
    name = repr(str(file.path))
    said = [
        f"Line {lines.number_of(damage.start)} of {name} was left out: {damage.reason}."
        for damage in lines.damage[:_SHOWN]
    ]
    if len(lines.damage) > _SHOWN:
        said.append(f"{len(lines.damage) - _SHOWN} more lines of {name} were left out; pi sessions fsck lists them.")
    if lines.torn is not None:
        said.append(f"The last line of {name} was not written to its end and was left out; it stays in the file.")
    if lines.version > VERSION:
        said.append(f"{name} was written by a newer pi (version {lines.version}); what is new in it is kept, not used.")
    if not file.writable:
        said.append(f"{name} may only be read: what is said from here on cannot be stored in it.")
    if not file.locked:
        said.append(in_use(file))
    return said

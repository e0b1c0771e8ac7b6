"""The store ``jsonl``: sessions as files, found, opened and copied.

A new session needs little of this package: the modules to open and list sessions are imported on use.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define

from pi_session_jsonl import place as _place
from pi_session_jsonl.file import SessionFile
from pi_session_jsonl.session import JsonlSession

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_hookspecs.entries import SessionHeader
    from pi_hookspecs.session_store import SessionInfo, SessionPlace, StoredSession

__all__ = ["JsonlSessionStore"]


@define(eq=False)
class JsonlSessionStore:
    """Implements ``SessionStore``: one file for each session."""

    place: SessionPlace
    name = "jsonl"

    def create(self, header: SessionHeader, reference: str | None = None) -> JsonlSession:
        """Prepare a new session; its file is created by the first append and must not exist by then."""
        path = _place.file_for(self.place, header) if reference is None else Path(_place.absolute(reference))
        return JsonlSession(header, path, self.place.sync)

    def open(self, reference: str) -> JsonlSession:
        """Open a session file; one of an older version is migrated, an empty one is a new session.

        Raises:
            UserError: It cannot be read or is not a session.
        """
        from pi_session_jsonl.opening import open_session

        return open_session(reference, self.place.sync)

    def list(self, cwd: str | None = None, progress: Callable[[int, int], None] | None = None) -> Sequence[SessionInfo]:
        """List the sessions of a working directory, or all, the most recently modified first."""
        from pi_session_jsonl.listing import list_sessions

        folders = _place.all_files(self.place) if cwd is None else [_place.files_of(self.place, cwd)]
        found = list_sessions(folders, self.place.agent_dir / "cache", progress)
        if cwd is None or self.place.session_dir is None:
            return found
        return [info for info in found if _place.same_cwd(info.cwd, cwd)]

    def latest(self, cwd: str) -> str | None:
        """Return the path of the most recently written session of a working directory; only headers are read.

        Child sessions, which work for another session, are left out: the user continues the parent.
        An invalid or unreadable file that is not empty counts, too: opening it reports the error.
        """
        from pi_session_jsonl.listing import header_of

        files = sorted(_place.files_of(self.place, cwd), key=lambda file: file.modified, reverse=True)
        for file in files:
            header = header_of(file.path)
            if header is None:
                if file.size:
                    return file.path
            elif "parentCall" in header:
                continue
            elif self.place.session_dir is None or _place.same_cwd(header.get("cwd"), cwd):
                return file.path
        return None

    def fork(self, source: StoredSession, header: SessionHeader, numbers: Sequence[int]) -> JsonlSession:
        """Create a new session from another one's entries; from a store of lines they are copied byte for byte.

        Raises:
            OSError: It could not be stored; no file is left behind.
        """
        from pi_session_kit.copies import copied_lines
        from pi_session_kit.header import header_line

        path = _place.file_for(self.place, header)
        lines = [header_line(header), *copied_lines(source, numbers)]
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

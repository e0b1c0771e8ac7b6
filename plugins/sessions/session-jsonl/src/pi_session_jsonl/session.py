"""One session in a file, opened or new; a new one is created by the first append."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from pi_session_jsonl.file import SessionFile
from pi_session_jsonl.lock import holder_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from pi_hookspecs.entries import SessionHeader
    from pi_hookspecs.rare_entries import SessionEntry
    from pi_hookspecs.session_store import SyncPolicy
    from pi_session_kit.entries import StoredEntries

__all__ = ["JsonlSession", "in_use"]


class JsonlSession:
    """Implements ``StoredSession``.

    Args:
        header: Its header.
        path: Its path.
        sync: When appended entries are flushed to disk.
        file: The open file of a session that is stored already.
        entries: Its entries.
        notices: Notices for the user; may grow.
    """

    def __init__(
        self,
        header: SessionHeader,
        path: Path,
        sync: SyncPolicy,
        *,
        file: SessionFile | None = None,
        entries: StoredEntries | None = None,
        notices: list[str] | None = None,
    ) -> None:
        self.header = header
        self.file = path
        self.entries: Sequence[SessionEntry] | StoredEntries = () if entries is None else entries
        self.notices = [] if notices is None else notices
        self._old = entries
        self._policy = sync
        self._open_file = file
        self._headless = entries is None
        self._stored_ids: list[str] = []
        self._unacknowledged: list[str] = []

    @property
    def reference(self) -> str:
        """The path of its file."""
        return str(self.file)

    def append(self, entries: Sequence[SessionEntry]) -> None:
        """Append entries to the file in one write; the first call creates the file.

        Raises:
            OSError: They could not be stored; entries that reached the file are not written again.
        """
        from pi_core import dumps

        already = _common_start(self._unacknowledged, entries)
        new = entries[already:]
        if not new and already:
            self._unacknowledged = []
            return
        lines = [dumps(entry) for entry in new]
        if self._headless:
            from pi_session_kit.header import header_line

            lines.insert(0, header_line(self.header))
        file = self._open_file or self._create()
        headers = int(self._headless)
        try:
            file.append(lines)
            if self._policy == "entry":
                file.sync()
        except OSError:
            if file.is_new and headers:
                file.discard()
                self._open_file = None
            else:
                self._keep(new, file.stored, headers)
            raise
        self._keep(new, len(lines), headers)
        self._unacknowledged = []

    def sync(self) -> None:
        """Flush appended entries to disk, unless the policy is never to do so.

        Raises:
            OSError: The flush failed.
        """
        if self._open_file is not None and self._policy != "never":
            self._open_file.sync()

    def close(self) -> None:
        """Close the file and release its lock."""
        if self._open_file is not None:
            self._open_file.close()

    def raw_lines(self, numbers: Sequence[int]) -> Iterator[bytes]:
        """Yield lines of entries from the file; numbers continue with entries appended since it was opened.

        Raises:
            OSError: The file cannot be read, or appended entries were removed from it.
            IndexError: There is no such entry.
        """
        old, count = self._old, len(self.entries)
        appended = self._appended() if any(number >= count for number in numbers) else {}
        for number in numbers:
            if old is not None and number < count:
                yield old.copy(number)
            else:
                yield self._found(self._stored_ids[number - count], appended)

    def _create(self) -> SessionFile:
        self._open_file = file = SessionFile.create(self.file)
        if not file.locked:
            self.notices.append(in_use(file))
        return file

    def _keep(self, entries: Sequence[SessionEntry], stored: int, headers: int) -> None:
        """Record which entries are in the file."""
        if stored < headers:
            return
        self._headless = False
        ids = [entry.id for entry in entries[: stored - headers]]
        self._stored_ids += ids
        self._unacknowledged += ids

    def _appended(self) -> dict[str, bytes]:
        """Read the file again, for entries appended since it was opened."""
        from pi_session_kit.copies import lines_by_id

        return lines_by_id(self.file.read_bytes())

    def _found(self, entry_id: str, lines: Mapping[str, bytes]) -> bytes:
        line = lines.get(entry_id)
        if line is None:
            message = f"Entry {entry_id!r} is no longer in it; another program changed the file"
            raise OSError(errno.ESTALE, message, str(self.file))
        return line


def in_use(file: SessionFile) -> str:
    """Return a notice that another process uses the session."""
    holder = holder_of(file.fd)
    who = "Another process" if holder is None else f"Process {holder}"
    if holder == os.getpid():
        who = "This process"
    return (
        f"{who} already has the session {str(file.path)!r} open. What both add goes into this one file, as two"
        " branches; fork the session to keep them separate."
    )


def _common_start(ids: Sequence[str], entries: Sequence[SessionEntry]) -> int:
    """Return how many of the first entries have these ids."""
    count = 0
    while count < min(len(ids), len(entries)) and entries[count].id == ids[count]:
        count += 1
    return count

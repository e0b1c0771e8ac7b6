"""Where the index reads sessions from: the files in some folders, or the database of sessions."""

from __future__ import annotations

import io
import os
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

from attrs import define, field, frozen

from pi_session_sqlite import rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Files", "Rows", "Source", "Stored"]


@frozen
class Stored:
    """A session as its store lists it: its reference, its size in bytes, and when it was stored, in nanoseconds."""

    path: str
    size: int
    modified: int


class Source(Protocol):
    """The sessions of a store."""

    def stored(self) -> Iterator[Stored]:
        """Yield the sessions."""
        ...

    def open(self, path: str) -> IO[bytes]:
        """Return the lines of a session.

        Raises:
            OSError: They cannot be read.
        """
        ...

    def covers(self, path: str) -> bool:
        """Whether ``stored`` would yield this session if it existed."""
        ...

    def exists(self, path: str) -> bool:
        """Whether a session exists."""
        ...


@frozen
class Files:
    """Session files in folders."""

    folders: Sequence[str]

    def stored(self) -> Iterator[Stored]:
        """Yield the files."""
        for folder in self.folders:
            try:
                entries = [entry for entry in os.scandir(folder) if entry.name.endswith(".jsonl")]
            except OSError:
                continue
            for entry in entries:
                try:
                    stat = entry.stat()
                    if entry.is_file():
                        yield Stored(entry.path, stat.st_size, stat.st_mtime_ns)
                except OSError:  # removed meanwhile
                    continue

    def open(self, path: str) -> IO[bytes]:
        """Open a file."""
        return Path(path).open("rb")

    def covers(self, path: str) -> bool:
        """Whether a file is in one of the folders."""
        return str(Path(path).parent) in self.folders

    def exists(self, path: str) -> bool:
        """Whether the file exists."""
        return Path(path).exists()


@define
class Rows:
    """The sessions of the database of the store ``sqlite``; all methods raise ``UserError`` if it cannot be used."""

    database: Path
    _names: set[str] | None = field(default=None, init=False)

    def stored(self) -> Iterator[Stored]:
        """Yield the sessions."""
        nothing: list[rows.Row] = []
        found = rows.reading(self.database, lambda database: [*rows.rows(database)], nothing)
        self._names = {row.name for row in found}
        return (Stored(row.name, row.size, row.modified) for row in found)

    def open(self, path: str) -> IO[bytes]:
        """Return the lines of a session."""
        found = rows.reading(self.database, partial(rows.stored, name=path), None)
        if found is None:
            raise FileNotFoundError(path)
        return io.BytesIO(found[1])

    def covers(self, path: str) -> bool:
        """Return True: every session is in the database."""
        del path
        return True

    def exists(self, path: str) -> bool:
        """Whether the session existed when they were listed."""
        if self._names is None:
            self.stored()
        return self._names is not None and path in self._names

"""Lists of sessions, with an index as a cache.

The index is a file in the agent directory's ``cache``, one for each folder of sessions. Its record of a
file is valid while size, modification time and inode are the same; without it every file is read.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from zlib import crc32

import attrs
import orjson

from pi_core import replace_file
from pi_session_kit.lines import NoSession, first_value
from pi_session_kit.summary import Summary, session_info, summarise, text_of_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_hookspecs.session_store import SessionInfo
    from pi_session_jsonl.place import Found

__all__ = ["header_of", "list_sessions"]

_LAYOUT = 2
"""Version of the index; one of another version is not read."""

_MOST_IN_INDEX = 20_000
"""Characters of a first message; a session with a longer one is read each time, to keep the index small."""

_USUAL_HEADER_ROOM, _HEADER_ROOM = 1 << 12, 1 << 20
"""Bytes at the start of a file that are read when only its header is needed."""

_FIELDS = [field.name for field in attrs.fields(Summary)]
_values = attrgetter(*_FIELDS)


def list_sessions(
    folders: Sequence[Sequence[Found]], cache: Path, progress: Callable[[int, int], None] | None
) -> list[SessionInfo]:
    """Return the sessions in these files, the most recently modified first; other files are left out."""
    total, done = sum(map(len, folders)), 0
    found: list[SessionInfo] = []
    for files in folders:
        if not files:
            continue
        index = _Index(cache, str(Path(files[0].path).parent))
        for file in files:
            summary = index.summary(file)
            done += 1
            if progress is not None:
                progress(done, total)
            if summary is not None:
                found.append(
                    session_info(summary, file.path, file.modified // 1_000_000, partial(_read_text, file.path))
                )
        index.save(files)
    found.sort(key=lambda info: info.modified, reverse=True)
    return found


def header_of(path: str) -> dict[str, Any] | None:
    """Return a file's header without reading the whole file; None if there is none."""
    try:
        with Path(path).open("rb") as file:
            header = _first_value(file)
    except (OSError, NoSession):
        return None
    valid = isinstance(header, dict) and header.get("type") == "session" and isinstance(header.get("id"), str)
    return header if valid else None


def _first_value(file: IO[bytes]) -> Any:
    data = file.read(_USUAL_HEADER_ROOM)
    try:
        _, end, value = first_value(data)
    except NoSession:
        end = len(data)
    if end == len(data):  # the bytes end within it, or before it
        value = first_value(data + file.read(_HEADER_ROOM))[2]
    return value


class _Index:
    """The index of one folder."""

    def __init__(self, cache: Path, folder: str) -> None:
        self._file = cache / f"sessions-{crc32(os.fsencode(folder)):08x}.json"
        self._folder = folder
        self._changed = False
        self._rows: dict[str, list[Any]] = {}
        with suppress(OSError, ValueError, KeyError, TypeError):
            stored = orjson.loads(self._file.read_bytes())
            if stored["layout"] == [_LAYOUT, *_FIELDS] and stored["folder"] == folder:
                self._rows = dict(stored["files"])

    def summary(self, file: Found) -> Summary | None:
        """Return a file's summary, None if it is not a session; read the file only if it changed."""
        marks = [file.size, file.modified, file.inode]
        row = self._rows.get(file.name)
        if row is not None and row[:3] == marks:
            with suppress(TypeError, IndexError):
                return None if row[3] is None else Summary(*row[3])
        self._rows.pop(file.name, None)
        self._changed = True
        try:
            summary = summarise(Path(file.path).read_bytes())
        except NoSession:
            self._rows[file.name] = [*marks, None]
            return None
        except OSError:
            return None
        if len(summary.first_message) <= _MOST_IN_INDEX:
            self._rows[file.name] = [*marks, _values(summary)]
        return summary

    def save(self, files: Sequence[Found]) -> None:
        """Write the index if it changed, without deleted files; errors are ignored."""
        rows = {file.name: self._rows[file.name] for file in files if file.name in self._rows}
        if not self._changed and len(rows) == len(self._rows):
            return
        with suppress(OSError, TypeError):  # names that are not UTF-8, lone surrogates: not indexed
            data = orjson.dumps({"layout": [_LAYOUT, *_FIELDS], "folder": self._folder, "files": rows})
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace_file(self._file, data, mode=0o600, durable=False)


def _read_text(path: str) -> str:
    try:
        return text_of_all(Path(path).read_bytes())
    except OSError:
        return ""

"""Folder and file of a session."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_hookspecs.entries import SessionHeader
    from pi_hookspecs.session_store import SessionPlace

__all__ = ["Found", "absolute", "all_files", "file_for", "files_of", "folder_name", "same_cwd"]

_ENDING = ".jsonl"

_LONGEST = 255
"""Bytes that file systems allow in a name."""


@frozen(eq=False)
class Found:
    """A session file in a folder, as listed by the folder; size in bytes, times in nanoseconds."""

    path: str
    name: str
    size: int
    modified: int
    inode: int


def absolute(path: str) -> str:
    """Return a path from the root, without dots; links are not resolved, as in the original pi."""
    return os.path.abspath(path)  # noqa: PTH100 - Path.resolve follows links, Path.absolute keeps the dots


def folder_name(cwd: str) -> str:
    """Return the name of the folder that a working directory's sessions are in: ``--home-me-project--``.

    One that would be too long for a file system is cut, and made unique by a hash of the path.
    """
    path = absolute(cwd)
    flat = re.sub(r"[/\\:]", "-", re.sub(r"^[/\\]", "", path))
    name = f"--{flat}--"
    if len(os.fsencode(name)) <= _LONGEST:
        return name
    from hashlib import sha256  # few paths are so long

    mark = f"--{sha256(os.fsencode(path)).hexdigest()[:16]}--"
    begin = f"--{flat}"[: _LONGEST - len(mark)]
    while len(os.fsencode(begin + mark)) > _LONGEST:
        begin = begin[:-1]
    return begin + mark


def file_for(place: SessionPlace, header: SessionHeader) -> Path:
    """Return the path of a new session."""
    stamp = re.sub(r"[:.]", "-", header.timestamp)
    return folder_for(place, header.cwd) / f"{stamp}_{header.id}{_ENDING}"


def folder_for(place: SessionPlace, cwd: str) -> Path:
    """Return the folder of a working directory's sessions; a folder that the user chose is used for all."""
    return place.session_dir or place.agent_dir / "sessions" / folder_name(cwd)


def files_of(place: SessionPlace, cwd: str) -> list[Found]:
    """Return the session files of a folder; if it is for one working directory, these are its sessions."""
    return list(_files_in(folder_for(place, cwd)))


def all_files(place: SessionPlace) -> list[list[Found]]:
    """Return the session files of every folder."""
    if place.session_dir is not None:
        return [list(_files_in(place.session_dir))]
    try:
        folders = [entry.path for entry in os.scandir(place.agent_dir / "sessions") if entry.is_dir()]
    except OSError:
        return []
    return [list(_files_in(Path(folder))) for folder in sorted(folders)]


def same_cwd(one: object, other: str) -> bool:
    """Whether two working directories are the same; a header may have none."""
    return isinstance(one, str) and bool(one) and absolute(one) == absolute(other)


def _files_in(folder: Path) -> Iterator[Found]:
    try:
        entries = [entry for entry in os.scandir(folder) if entry.name.endswith(_ENDING)]
    except OSError:
        return
    for entry in entries:
        try:
            stat = entry.stat()
            if entry.is_file():
                yield Found(entry.path, entry.name, stat.st_size, stat.st_mtime_ns, stat.st_ino)
        except OSError:  # removed meanwhile
            continue

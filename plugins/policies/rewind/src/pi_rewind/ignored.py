"""Files that no checkpoint contains, above all ignored ones; a rewind names those that were deleted or changed since.

Before each prompt, names, sizes and times are stored. A folder that is ignored as a whole is one row, with a row for
each file in it if there is room; caches are not looked into, because tools write them again.
"""

from __future__ import annotations

import json
import os
from itertools import islice
from typing import TYPE_CHECKING

from attrs import field, frozen

from pi_rewind.git import GitFailed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_rewind.checkpoints import Checkpoints

__all__ = ["Lost", "compare_ignored", "note_ignored"]

MOST_IGNORED = 2_000
"""Ignored files and folders that are recorded."""
_CACHES = frozenset(("__pycache__", "node_modules", ".git"))
_CACHE_MARK = "CACHEDIR.TAG"

_Row = tuple[str, int, float]


@frozen
class Lost:
    """What happened to ignored files.

    Attributes:
        deleted: Files and folders that are gone; a folder stands for all that was in it.
        changed: Files with another size or time.
    """

    deleted: tuple[str, ...] = field(default=())
    changed: tuple[str, ...] = field(default=())


def note_ignored(checkpoints: Checkpoints, left_out: Sequence[str] = ()) -> str | None:
    """Store the list of ignored files, and of what a checkpoint leaves out; None if there are no such files.

    Raises:
        GitFailed: git failed.
    """
    if checkpoints.touched is not None:
        return None  # it would be a look at every file
    git = checkpoints.git
    names = [*left_out, *git.paths("ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory")][:MOST_IGNORED]
    room = MOST_IGNORED - len(names)
    root = os.fspath(checkpoints.root)
    rows: list[_Row] = []
    for name in names:
        row = _row(root, name)
        if row is None:
            continue
        rows.append(row)
        if name.endswith("/") and name not in left_out:
            inner = [*islice(_files_in(root, name), room + 1)]
            if len(inner) <= room:  # else some would seem to be all
                rows += inner
                room -= len(inner)
    if not rows:
        return None
    blob = git("hash-object", "-w", "--stdin", data=json.dumps(rows).encode()).decode().strip()
    checkpoints.protect([blob])
    return blob


def _read_rows(data: bytes) -> list[_Row]:
    """Read a list of ignored files.

    Raises:
        ValueError: It is something else.
    """
    rows: list[_Row] = []
    found = json.loads(data)
    for row in found if isinstance(found, list) else [found]:
        match row:
            case [str(name), int(size), int(at) | float(at)] if "\0" not in name:
                rows.append((name, size, at))
            case _:
                raise ValueError("not a list of ignored files")
    return rows


def compare_ignored(checkpoints: Checkpoints, noted: str | None) -> Lost:
    """Return what happened to the files of a list since it was stored; nothing if it is no longer stored."""
    if noted is None:
        return Lost()
    try:
        rows = _read_rows(checkpoints.git("cat-file", "blob", noted))
    except (GitFailed, ValueError):  # pruned, or no list: a session can name any object
        return Lost()
    deleted: list[str] = []
    changed: list[str] = []
    folders: set[str] = set()
    root = os.fspath(checkpoints.root)
    for name, size, at in rows:
        if any(name.startswith(folder) for folder in folders):
            continue
        now = _row(root, name)
        if now is None:
            deleted.append(name)
            if name.endswith("/"):
                folders.add(name)
        elif not name.endswith("/") and (now[1], now[2]) != (size, at):
            changed.append(name)
    return Lost(tuple(deleted), tuple(changed))


def _row(root: str, name: str) -> _Row | None:
    try:
        found = os.lstat(f"{root}/{name.rstrip('/')}")
    except OSError:
        return None
    return name, found.st_size, found.st_mtime


def _files_in(root: str, folder: str) -> Iterator[_Row]:
    """Yield a row for each file in a folder whose name ends with ``/``, without caches and other repositories."""
    if folder.rstrip("/").rpartition("/")[2] in _CACHES:
        return
    for here, folders, names in os.walk(f"{root}/{folder}"):
        if _CACHE_MARK in names or ".git" in folders or ".git" in names:
            folders.clear()
            continue
        folders[:] = [each for each in folders if each not in _CACHES]
        for name in names:
            row = _row(root, os.path.relpath(os.path.join(here, name), root))
            if row is not None:
                yield row

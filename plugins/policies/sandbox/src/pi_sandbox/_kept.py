"""Protected files before and after a command: a change that was not refused is undone, and kept as evidence."""

from __future__ import annotations

import os
import re
import shutil
import stat
import time
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Kept", "Undone", "keep"]

_LIMIT = 1 << 24
"""Maximum size in bytes of a protected file that is kept in memory; larger ones are not restored."""
_PLAIN_CONFIG = re.compile(
    rb"\s*|\[core\]|\[user\]|\s*(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode"
    rb"|symlinks|name|email) = [^\\\"]*"
)
"""Lines that ``git init`` and ``git config user.*`` write."""
_MOST = 2000
"""Maximum number of protected files that are kept in memory."""


@frozen
class _Item:
    """A file, link or folder: its kind and permissions, and the content of a file or the target of a link."""

    mode: int
    content: bytes | None
    stamp: tuple[int, int]


@frozen
class Undone:
    """A change that was undone.

    Attributes:
        path: The path that was changed.
        evidence: Where the changed version was moved; None if the path had been removed.
        restored: Whether the path was restored; False for a file that was too large to keep.
    """

    path: str
    evidence: str | None
    restored: bool = True


class Kept:
    """The earlier state of the protected paths.

    Args:
        paths: The protected paths.
        items: Their state, by path.
    """

    def __init__(self, paths: Sequence[str], items: dict[str, _Item]) -> None:
        self._paths = paths
        self._items = items

    def undo(self, evidence: str) -> list[Undone]:
        """Undo all changes since; changed versions are moved into the folder ``evidence``."""
        now = _items(self._paths)
        changed = [
            path
            for path in sorted({**self._items, **now})
            if not _same(self._items.get(path), now.get(path)) and not _is_harmless(path, self._items, now)
        ]
        undone = [
            Undone(path, None, restored=False)
            if _is_large(self._items.get(path))
            else Undone(path, _set_aside(path, evidence))
            for path in changed
            if path in self._items or os.path.lexists(path)  # not what was in a folder that was set aside
        ]
        if undone:
            for path, item in sorted(self._items.items()):  # also what was in a folder that was set aside
                if not _same(item, _item(path)):
                    _restore(path, item)
        return undone


def keep(paths: Sequence[str]) -> Kept:
    """Record the current state of the paths."""
    return Kept(paths, _items(paths))


def _items(paths: Sequence[str]) -> dict[str, _Item]:
    found: dict[str, _Item] = {}
    for path in paths:
        for each in _below(path):
            if len(found) >= _MOST:
                return found
            item = _item(each)
            if item is not None:
                found[each] = item
    return found


def _below(path: str) -> Iterator[str]:
    yield path
    if not os.path.islink(path):
        for folder, folders, files in os.walk(path):
            for name in (*folders, *files):
                yield os.path.join(folder, name)


def _item(path: str) -> _Item | None:
    try:
        status = os.lstat(path)
        content = None
        if stat.S_ISLNK(status.st_mode):
            content = os.fsencode(os.readlink(path))
        elif stat.S_ISREG(status.st_mode) and status.st_size <= _LIMIT:
            with open(path, "rb") as file:
                content = file.read(_LIMIT)
    except OSError:
        return None
    return _Item(status.st_mode, content, (status.st_size, status.st_mtime_ns))


def _same(old: _Item | None, new: _Item | None) -> bool:
    if old is None or new is None or old.mode != new.mode:
        return old is new
    return old.stamp == new.stamp if _is_large(old) else old.content == new.content


def _is_large(item: _Item | None) -> bool:
    return item is not None and item.content is None and stat.S_ISREG(item.mode)


def _is_harmless(path: str, before: dict[str, _Item], now: dict[str, _Item]) -> bool:
    """Whether a change is what ``git init`` makes: nothing that git runs."""
    item = now.get(path)
    if item is None or path in before:
        return False
    if stat.S_ISDIR(item.mode):
        return os.path.basename(path) == "hooks"
    if os.path.basename(os.path.dirname(path)) == "hooks":
        return path.endswith(".sample")
    if os.path.basename(path) != "config" or item.content is None or not stat.S_ISREG(item.mode):
        return False
    return all(_PLAIN_CONFIG.fullmatch(line) for line in item.content.splitlines())


def _set_aside(path: str, evidence: str) -> str | None:
    """Move a path out of the way, and return its new place; None if it does not exist."""
    if not os.path.lexists(path):
        return None
    os.makedirs(evidence, mode=0o700, exist_ok=True)
    place = os.path.join(evidence, f"{time.time_ns()}-{os.path.basename(path)}")
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.copytree(path, place, symlinks=True)
        shutil.rmtree(path)
    else:
        shutil.move(path, place)
    return place


def _restore(path: str, item: _Item) -> None:
    if stat.S_ISDIR(item.mode):
        os.makedirs(path, exist_ok=True)
    elif item.content is None:
        return
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if stat.S_ISLNK(item.mode):
            os.symlink(item.content, os.fsencode(path))
            return
        with open(path, "wb") as file:
            file.write(item.content)
    os.chmod(path, stat.S_IMODE(item.mode))

"""The protected files as the user left them: what programs change is undone, and kept as evidence.

There is one baseline for all programs of a session. It is taken while none of them runs; until they have all ended, it
stays what it is, so that nothing that one of them has written counts as the user's.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from pi_sandbox.parents import ParentFolder
from pi_sandbox.repositories import adds_nothing, is_plain_config, plain_part, target_of
from pi_sandbox.scan import Scan, read_item

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from pi_sandbox.scan import Item, Scanner

__all__ = ["Baseline", "Undone"]

_CONFIGS = ("config", "config.worktree")


@frozen
class Undone:
    """A change that was undone.

    Attributes:
        path: The path that was changed.
        evidence: Where the changed version was moved; None if there was none, or it could not be moved.
        restored: Whether the path is as before; False for a file that was too large to keep, and for one that could not
            be restored.
    """

    path: str
    evidence: str | None
    restored: bool = True


class Baseline:
    """The protected files of a session. Its methods may be called from several threads.

    Args:
        scanner: Finds them.
        evidence: Folder for changed versions.
        writable: Folders that programs may change.

    Attributes:
        untouched: Protected paths that no running program can change: what changes there, the user has changed.
    """

    def __init__(
        self,
        scanner: Scanner,
        *,
        evidence: str,
        writable: Collection[str],
    ) -> None:
        self._scanner = scanner
        self._evidence = evidence
        self._writable = writable
        self.untouched: Collection[str] = ()
        self._lock = threading.Lock()
        self._accepted = Scan()
        self._places: dict[str, tuple[int, int]] = {}

    def accept(self, repositories: Iterable[str] = ()) -> None:
        """Take the present state as the user's; no program may be running.

        Args:
            repositories: The git folders of the project: they stay where they are.
        """
        with self._lock:
            self._accepted = self._scanner.scan()
            self._places = {path: place for path in repositories if (place := _place(path)) is not None}

    def follow(self, earlier: Baseline) -> None:
        """Continue with another one's state; what it did not compare is taken as it is."""
        with self._lock:
            items = self._scanner.scan().items
            new = {path: item for path, item in items.items() if not earlier._scanner.covers(path)}
            self._accepted = evolve(earlier._accepted, items={**new, **earlier._accepted.items})
            self._places = earlier._places

    def extend(self, root: str) -> None:
        """Compare the files below another folder, too, from its present state on."""
        with self._lock:
            self._scanner.add(root)
            self._accepted.items.update(
                (path, item) for path, item in self._scanner.scan().items.items() if path.startswith(root + "/")
            )

    def check(self) -> list[Undone]:
        """Undo what programs have changed, and return it."""
        with self._lock:
            undone = [done for path, place in self._places.items() if (done := self._return(path, place)) is not None]
            return undone + self._undo(self._scanner.scan())

    def _return(self, path: str, place: tuple[int, int]) -> Undone | None:
        """Move a repository back that was moved away; None if it is where it was, or was deleted."""
        if _place(path) == place:
            return None
        found = self._scanner.scan().folders.get(place)
        if found is None or found == path:
            return None
        try:
            evidence = _set_aside(path, self._evidence)
            with ParentFolder(found) as old, ParentFolder(path) as new:
                os.rename(old.name, new.name, src_dir_fd=old.descriptor, dst_dir_fd=new.descriptor)
        except OSError:
            return Undone(path, None, restored=False)
        return Undone(path, evidence)

    def _undo(self, now: Scan) -> list[Undone]:
        before = self._accepted.items
        changed = [
            path
            for path in sorted(before.keys() | now.items.keys())
            if not _same(before.get(path), now.items.get(path)) and not self._is_allowed(path, now)
        ]
        undone = []
        for path in changed:
            item, old = now.items.get(path), before.get(path)
            if _same(old, read_item(path)):
                continue  # it was in a folder that was set aside or restored
            if old is not None and old.is_large:
                undone.append(Undone(path, None, restored=False))
                continue
            try:
                evidence = _set_aside(path, self._evidence)
                if old is not None:
                    _restore_all(path, before)
                elif item is not None:
                    _neutralise(path, item)
            except OSError:
                undone.append(Undone(path, None, restored=False))
            else:
                undone.append(Undone(path, evidence))
        return undone

    def _is_allowed(self, path: str, now: Scan) -> bool:
        """Whether a change of a protected path runs nothing, or is the user's."""
        old, new = self._accepted.items.get(path), now.items.get(path)
        if any(path == place or path.startswith(place + "/") for place in self.untouched):
            self._take(path, new)
            return True
        if new is None:
            return old is not None and not _is_there(old, path)
        if old is not None:
            both = old.content is not None and new.content is not None and old.mode == new.mode
            return both and new.git and new.name in _CONFIGS and adds_nothing(old.content or b"", new.content or b"")
        if self._is_copy(new):
            return True
        if new.name == ".git":
            return self._is_known_repository(path, new, now)
        return new.git and _is_harmless(new)

    def _take(self, path: str, item: Item | None) -> None:
        if item is None:
            self._accepted.items.pop(path, None)
        else:
            self._accepted.items[path] = item

    def _is_copy(self, new: Item) -> bool:
        """Whether a new file is one that the user had: in a folder that was moved, or copied from another."""
        return any(
            old.name == new.name and old.is_same(new) and not new.is_large and (old.place == new.place or not new.git)
            for old in self._accepted.items.values()
        )

    def _is_known_repository(self, path: str, new: Item, now: Scan) -> bool:
        """Whether ``.git`` leads to a repository whose files are compared, or that no program can change."""
        target = target_of(path, new.content or b"", is_link=stat.S_ISLNK(new.mode))
        if target is None:
            return False
        inside = any(target == place or target.startswith(place.rstrip("/") + "/") for place in self._writable)
        return target in now.repositories or (not inside and os.path.isdir(target))


def _same(old: Item | None, new: Item | None) -> bool:
    return old.is_same(new) if old is not None else new is None


def _place(path: str) -> tuple[int, int] | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _is_there(item: Item, path: str) -> bool:
    """Whether the folder that held a missing file is there: it may be deleted, or moved, with all that is in it."""
    return os.path.lexists(path) or (os.path.isdir(item.folder) and os.path.realpath(item.folder) == item.folder)


def _is_harmless(item: Item) -> bool:
    """Whether a new item of a git folder is what git makes itself: nothing that git runs."""
    if stat.S_ISDIR(item.mode):
        return item.name == "hooks"
    if item.content is None or not stat.S_ISREG(item.mode):
        return False
    if item.name.startswith("hooks/"):
        return item.name.count("/") == 1 and item.name.endswith(".sample")
    if item.name == "commondir":
        parent = os.path.basename(os.path.dirname(item.folder))
        return parent == "worktrees" and item.content.strip() == b"../.."
    return item.name in _CONFIGS and is_plain_config(item.content)


def _neutralise(path: str, item: Item) -> None:
    """Leave a new repository what its configuration has that names no program."""
    if item.git and item.name == "config" and item.content is not None and stat.S_ISREG(item.mode):
        _write(path, plain_part(item.content), item.mode)


def _set_aside(path: str, evidence: str) -> str | None:
    """Move a path out of the way, and return its new place; None if it does not exist.

    Raises:
        OSError: It cannot be moved.
    """
    if not os.path.lexists(path):
        return None
    os.makedirs(evidence, mode=0o700, exist_ok=True)
    place = os.path.join(evidence, f"{time.time_ns()}-{os.path.basename(path)}")
    with ParentFolder(path) as parent:
        kind = os.stat(parent.name, dir_fd=parent.descriptor, follow_symlinks=False).st_mode
        try:
            os.rename(parent.name, place, src_dir_fd=parent.descriptor)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            _move(parent, kind, place)
    return place


def _move(parent: ParentFolder, kind: int, place: str) -> None:
    """Move a file or folder to another file system."""
    source = f"/proc/self/fd/{parent.descriptor}/{parent.name}" if os.path.isdir("/proc/self/fd") else parent.name
    if stat.S_ISDIR(kind):
        with suppress(shutil.Error):  # what cannot be copied, such as a socket
            shutil.copytree(source, place, symlinks=True)
        shutil.rmtree(parent.name, dir_fd=parent.descriptor)
        return
    if stat.S_ISREG(kind) or stat.S_ISLNK(kind):
        shutil.copy2(source, place, follow_symlinks=False)
    os.unlink(parent.name, dir_fd=parent.descriptor)


def _restore_all(path: str, items: dict[str, Item]) -> None:
    """Restore a path and all that was below it.

    Raises:
        OSError: It cannot be restored.
    """
    for each, item in _below(path, sorted(items.items())):
        if not _same(item, read_item(each)):
            _restore(each, item)


def _below(path: str, items: Iterable[tuple[str, Item]]) -> list[tuple[str, Item]]:
    return [(each, item) for each, item in items if each == path or each.startswith(path + "/")]


def _restore(path: str, item: Item) -> None:
    if stat.S_ISDIR(item.mode):
        with ParentFolder(os.path.join(path, "x"), make=True) as folder:
            os.fchmod(folder.descriptor, stat.S_IMODE(item.mode))
    elif item.content is not None and stat.S_ISLNK(item.mode):
        with ParentFolder(path, make=True) as parent:
            os.symlink(item.content, os.fsencode(parent.name), dir_fd=parent.descriptor)
    elif item.content is not None:
        _write(path, item.content, item.mode)


def _write(path: str, content: bytes, mode: int) -> None:
    with ParentFolder(path, make=True) as parent:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(parent.name, flags, 0o600, dir_fd=parent.descriptor)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            os.fchmod(descriptor, stat.S_IMODE(mode))

"""Checkpoints of a work tree: git trees in a store that only this plugin uses."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import time
from typing import TYPE_CHECKING

from attrs import field, frozen

from pi_rewind._git import Git, GitFailed, workspace_of
from pi_rewind._touched import Touched, touched_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

__all__ = ["Change", "Checkpoint", "Checkpoints"]

LARGEST_FILE = 50_000_000
"""Bytes above which a file is not stored."""
MOST_IGNORED = 2_000
"""Ignored files and folders that a checkpoint lists."""
_SUBMODULE = "160000"
_ABSENT = "000000"


@frozen
class Change:
    """How a path differs between two trees.

    Attributes:
        path: Relative to the root.
        mode: git's mode in the second tree, ``100644``, ``100755`` or ``120000`` for a link; None where it is absent.
        blob: Its content there.
        old_mode: The mode in the first tree.
        old_blob: The content in the first tree.
    """

    path: str
    mode: str | None
    blob: str
    old_mode: str | None
    old_blob: str

    @property
    def kind(self) -> str:
        """``A`` for what is added, ``D`` for what is removed, ``M`` for what has other content or another mode."""
        if self.old_mode is None:
            return "A"
        return "D" if self.mode is None else "M"


@frozen
class Checkpoint:
    """A tree, and which files it does not contain.

    Attributes:
        tree: The name of the tree.
        left_out: Files that are too large or cannot be read, and repositories within the work tree.
    """

    tree: str
    left_out: tuple[str, ...] = field(default=())


class Checkpoints:
    """The checkpoints of one work tree in one session.

    Args:
        folder: The parent folder of the stores of all work trees.
        cwd: A folder in the work tree.
        session: The session's id.
        include: Patterns of ignored files that are stored nevertheless.
        is_too_large: Decides for a folder outside a repository whether to store only the paths that pi writes.

    Attributes:
        root: The work tree; the folder itself outside a repository.
        in_repository: Whether it is a git work tree.
        touched: The paths that are stored if the folder is too large to store whole; else None.
    """

    def __init__(
        self,
        folder: Path,
        cwd: Path,
        session: str,
        include: Sequence[str] = (),
        *,
        is_too_large: Callable[[Path], bool] = lambda _root: False,
    ) -> None:
        found = workspace_of(cwd)
        self.in_repository = found is not None
        self.root = found[0] if found is not None else cwd.resolve()
        self._repository = found[1:] if found is not None else None
        self._include = tuple(include)
        name = f"{self.root.name or 'root'}-{hashlib.sha256(os.fsencode(self.root)).hexdigest()[:12]}"
        self.git = Git(folder / name, self.root, f"index-{session}", _user_excludes())
        self._last: Checkpoint | None = None
        self._stamp: tuple[int, int] | None = None
        self._session = session
        self.touched = Touched(self.git, session) if self._is_limited(is_too_large) else None

    def make(self, paths: Sequence[str] | None = None) -> Checkpoint:
        """Store the current work tree.

        Args:
            paths: The only ones that can have changed since the last time, relative to the root; None where any can.
                Saves examining every file.

        Raises:
            GitFailed: git is missing or failed.
        """
        if self._last is None:
            self._open()
        last = self._last if self._stamp == self._index_stamp() else None  # another object may have changed the index
        if paths is not None and not paths and last is not None:
            return last
        whole = paths is None or last is None or bool(self._include)
        found = self._changed(None if whole else paths)
        if last is not None and not whole:
            found.left_out[:] = dict.fromkeys((*last.left_out, *found.left_out))
        if not (found.gone or found.there) and last is not None and tuple(found.left_out) == last.left_out:
            return last
        for names, how in ((found.gone, ("--force-remove",)), (found.there, ("--add", "--remove", "--replace"))):
            if names:
                data = b"".join(os.fsencode(path) + b"\0" for path in names)
                self.git("update-index", *how, "-z", "--stdin", data=data)
        tree = self.git("write-tree").decode().strip()
        self._name(tree)
        self._last = Checkpoint(tree if self.touched is None else self.touched.named(tree), tuple(found.left_out))
        self._stamp = self._index_stamp()
        return self._last

    def relative(self, path: str) -> str | None:
        """Return an absolute path relative to the root; None if it is outside."""
        folder, name = os.path.split(path)
        found = os.path.relpath(os.path.join(os.path.realpath(folder), name), self.root)
        return None if found == os.pardir or found.startswith(os.pardir + os.sep) else found.replace(os.sep, "/")

    def keep(self, path: str) -> None:
        """In a folder that is too large to store whole, store a path before pi writes it for the first time.

        Raises:
            GitFailed: git failed.
        """
        if self.touched is None or path in self.touched:
            return
        found = _Changed()
        self._sort(path, found, _Links(self.root))
        if found.left_out:
            return
        if found.there:
            self.git("update-index", "--add", "--replace", "-z", "--stdin", data=os.fsencode(path) + b"\0")
        blob = self.touched.add(path)
        if blob is not None:
            self._name(blob)

    def changes(self, old: str, new: str) -> list[Change]:
        """Return how the second tree differs from the first; repositories within the work tree are left out.

        Raises:
            GitFailed: One of them is no longer stored.
        """
        trees = (self._complete(old), self._complete(new))
        fields = self.git("diff-tree", "-r", "-z", "--raw", "--no-renames", *trees).split(b"\0")
        found = []
        for about, path in zip(fields[::2], fields[1::2], strict=False):
            old_mode, mode, old_blob, blob, _ = about.decode().lstrip(":").split(" ")
            if _SUBMODULE not in (old_mode, mode):
                found.append(
                    Change(
                        os.fsdecode(path),
                        None if mode == _ABSENT else mode,
                        blob,
                        None if old_mode == _ABSENT else old_mode,
                        old_blob,
                    )
                )
        return found

    def has(self, tree: str) -> bool:
        """Whether a tree is stored with all of its contents."""
        try:
            self.git("ls-tree", "-r", "--name-only", "-z", self._complete(tree))
        except GitFailed:
            return False
        return True

    def note_ignored(self) -> str | None:
        """Store a list of the ignored files with size and modification time, and return its name.

        Folders that are ignored as a whole are one row. None if there are no such files, or too many.

        Raises:
            GitFailed: git failed.
        """
        if self.touched is not None:
            return None  # it would be a look at every file
        names = self.git.paths("ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory")[:MOST_IGNORED]
        rows = [row for row in map(self._row, names) if row is not None]
        if not rows:
            return None
        blob = self.git("hash-object", "-w", "--stdin", data=json.dumps(rows).encode()).decode().strip()
        self._name(blob)
        return blob

    def lost_ignored(self, noted: str | None) -> list[str]:
        """Return the ignored files and folders of a list that are gone: no checkpoint holds them."""
        if noted is None:
            return []
        try:
            rows = json.loads(self.git("cat-file", "blob", noted))
        except GitFailed:  # pruned
            return []
        return [name for name, _, _ in rows if not os.path.lexists(os.path.join(self.root, name))]

    def _row(self, name: str) -> tuple[str, int, float] | None:
        try:
            found = os.lstat(os.path.join(self.root, name))
        except OSError:
            return None
        return name, found.st_size, found.st_mtime

    def _name(self, thing: str) -> None:
        """Protect an object from pruning for as long as checkpoints are kept."""
        self.git("update-ref", f"refs/rewind/{self._session}/{int(time.time())}-{thing[:12]}", thing)

    def _open(self) -> None:
        objects = ignored = None
        sha256 = False
        if self._repository is not None:
            own, common = self._repository
            objects, ignored = common / "objects", common / "info" / "exclude"
            sha256 = _has_long_names(common)
        self.git.create(objects, ignored, sha256=sha256)
        if self.touched is not None:
            self.touched.begin()
        if self._repository is None or self.git.index.exists():
            return
        index = own / "index"
        if index.is_file():
            shutil.copyfile(index, self.git.index)
            try:
                self.git("ls-files", "-z", "--error-unmatch", "--", ":/")
                self.git("ls-files", "-z", "-m")
            except GitFailed:  # a kind of index that only the repository itself can read
                self.git.index.unlink()

    def _index_stamp(self) -> tuple[int, int] | None:
        try:
            found = self.git.index.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size

    def _complete(self, tree: str) -> str:
        return tree if self.touched is None else self.touched.complete(tree)

    def _is_limited(self, is_too_large: Callable[[Path], bool]) -> bool:
        """Whether only the paths that pi writes are stored; decided when the session began, not by the current size."""
        if self.in_repository:
            return False
        if touched_file(self.git.store, self._session).exists():
            return True
        return not self.git.index.exists() and is_too_large(self.root)

    def _changed(self, paths: Sequence[str] | None) -> _Changed:
        """Return what differs from the index, in all paths or in the given ones."""
        if self.touched is not None:
            listed = [*self.touched]
        elif paths is not None:
            listed = self.git.paths(
                "--literal-pathspecs", "ls-files", "-z", "-c", "-o", "--exclude-standard", "--", *paths
            )
        else:
            listed = self.git.paths("ls-files", "-z", "-m", "-o", "-d", "--exclude-standard")
        if self._include and self.touched is None:
            listed += self.git.paths("ls-files", "-z", "-o", "-i", "--exclude-standard", "--", *self._include)
        found, links = _Changed(), _Links(self.root)
        for path in dict.fromkeys(listed):
            self._sort(path, found, links)
        return found

    def _sort(self, path: str, found: _Changed, links: _Links) -> None:
        full = os.path.join(self.root, path)
        if path.endswith("/"):  # a repository within the work tree
            found.left_out.append(path)
        elif not os.path.lexists(full) or links.lead_to(path):
            found.gone.append(path)
        elif _is_storable(full):
            found.there.append(path)
        else:
            found.left_out.append(path)


@frozen
class _Changed:
    """Paths that differ from the index: deleted ones, ones to store, and ones that cannot be stored."""

    gone: list[str] = field(factory=list)
    there: list[str] = field(factory=list)
    left_out: list[str] = field(factory=list)


class _Links:
    """Knows which folders of a work tree are links; their targets are not part of the work tree."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known = {"": False}

    def lead_to(self, path: str) -> bool:
        """Whether a path is behind a link."""
        folder = path.rpartition("/")[0]
        if folder not in self._known:
            self._known[folder] = self.lead_to(folder) or os.path.islink(os.path.join(self._root, folder))
        return self._known[folder]


def _is_storable(full: str) -> bool:
    found = os.lstat(full)
    if not stat.S_ISREG(found.st_mode):
        return True  # a link, a submodule, or a folder where there was a file
    return found.st_size <= LARGEST_FILE and os.access(full, os.R_OK)


def _has_long_names(common: Path) -> bool:
    """Whether the objects of a repository have names of SHA-256."""
    try:
        return "objectformat = sha256" in (common / "config").read_text(errors="replace").lower()
    except OSError:
        return False


def _user_excludes() -> str | None:
    """Return git's default place of a user's ignored names."""
    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    file = os.path.join(folder, "git", "ignore")
    return file if os.path.isfile(file) else None

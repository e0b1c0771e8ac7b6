"""Checkpoints of a work tree: git trees in a store that only this plugin uses, each with what git does not record."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING

from attrs import field, frozen

from pi_rewind.about import FOLDER, About, parents_of, split_name, usual_of
from pi_rewind.git import Git, GitFailed, find_repository
from pi_rewind.scan import Boundaries, Scan, Scanner
from pi_rewind.seed import INDEX, Seed, excludes_of, note_state, seed, tracked_by
from pi_rewind.touched import Touched, touched_file

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from pi_rewind.about import Usual

__all__ = ["Change", "Checkpoint", "Checkpoints"]

_SUBMODULE = "160000"
_ABSENT = "000000"
_SAME_SECOND = 2.0
"""Seconds within which git does not notice that permissions were changed again: it compares whole seconds."""
_LOCK_WAIT = 2.0
"""Seconds after which the lock of an index belongs to a process that was killed."""


@frozen
class Change:
    """How a path differs between two trees.

    Attributes:
        path: Relative to the root.
        mode: git's mode in the second tree, ``100644``, ``100755``, ``120000`` for a link or ``040000`` for a folder
            that is empty, or has other permissions; None if it is absent.
        blob: Its content there; empty for a folder.
        old_mode: The mode in the first tree.
        old_blob: The content in the first tree.
        permissions: The permissions in the second tree, such as ``0o600``; None if they are not known.
    """

    path: str
    mode: str | None
    blob: str
    old_mode: str | None
    old_blob: str
    permissions: int | None = None

    @property
    def kind(self) -> str:
        """``A`` for what is added, ``D`` for what is removed, ``M`` for other content or permissions."""
        if self.old_mode is None:
            return "A"
        return "D" if self.mode is None else "M"

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder in either tree."""
        return FOLDER in (self.mode, self.old_mode)


@frozen
class Checkpoint:
    """A tree, and which files it does not contain.

    Attributes:
        tree: The checkpoint's name.
        left_out: Files that are too large, contain secrets or cannot be read, and repositories within the work tree.
    """

    tree: str
    left_out: tuple[str, ...] = field(default=())


class Checkpoints:
    """The checkpoints of one work tree in one session.

    Args:
        folder: The parent folder of the stores of all work trees.
        cwd: A folder in the work tree.
        session: The session's id.
        include: Patterns of files that are stored although they are ignored or contain secrets.
        is_too_large: Decides for a folder outside a repository whether to store only the paths that pi writes.

    Attributes:
        root: The work tree; the folder itself outside a repository.
        in_repository: Whether it is a git work tree.
        session: The session's id.
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
        found = find_repository(cwd)
        self.in_repository = found is not None
        self.root = found.top if found is not None else cwd.resolve()
        self.session = session
        self._repository = found
        self.git = Git(store_of(folder, self.root), self.root, f"{INDEX}{session}", excludes_of(found))
        self._scanner = Scanner(self.git, self.root, include, found)
        self._include = tuple(include)
        self._last: Checkpoint | None = None
        self._about: About | None = None
        self._modes: dict[str, int] = {}
        self._recent: set[str] = set()
        self._missing: list[str] = []
        self._gone: set[str] = set()
        self._folders: set[str] = set()
        self._stamp: tuple[int, int] | None = None
        self.touched = Touched(self.git, session) if self._is_limited(is_too_large) else None

    def make(self, paths: Sequence[str] | None = None, *, covering: str | None = None) -> Checkpoint:
        """Store the current work tree.

        Args:
            paths: The only ones that can have changed since the last time, relative to the root; None if any can.
                Saves examining every file.
            covering: A checkpoint that is about to be restored: the files that it would overwrite, and its folders, are
                stored even if they are ignored.

        Raises:
            GitFailed: git is missing or failed.
        """
        made = self._make(paths)
        if covering is None:
            return made
        boundaries = Boundaries(self.root)
        hidden = (each.path for each in self.changes(made.tree, covering) if each.old_mode is None)
        found = self._scanner.exactly(
            path for path in hidden if os.path.lexists(self.root / path) and not boundaries.behind_link(path)
        )
        folders = {
            folder
            for folder in self.folders(covering) - self.folders(made.tree)
            if _is_folder(self.root / folder) and not boundaries.behind_link(f"{folder}/")
        }
        return self._record(found, made, folders) if found.there or folders else made

    def _make(self, paths: Sequence[str] | None) -> Checkpoint:
        if self._last is None or not (self._stamp is None or self.git.index.exists()):
            self._open()
        last = self._last if self._stamp == self._index_stamp() else None  # another object may have changed the index
        if paths is not None and not paths and last is not None:
            return last
        if self.touched is not None:
            return self._record(self._scanner.exactly(self.touched), last)
        missing = [*self._missing, *self._returned()]
        if paths is None or last is None or self._include or missing:
            self._missing = []
            return self._record(self._scanner.whole(missing), last)
        found = self._scanner.some(paths)
        found.left_out[:] = dict.fromkeys((*(set(last.left_out) - set(paths)), *found.left_out))
        return self._record(found, last)

    def _returned(self) -> set[str]:
        """Return the files that were gone and exist again, if the user's repository contains them.

        git does not list them as new if they are ignored, because the store's index does not contain them any more.
        """
        there = [path for path in self._gone if os.path.lexists(self.root / path)]
        self._gone.difference_update(there)
        return tracked_by(self._repository, there) if there else set()

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
        found = self._scanner.exactly([path])
        if found.left_out:
            return
        self._update(found)
        blob = self.touched.add(path)
        if blob is not None:
            self.protect([blob])

    def changes(self, old: str, new: str) -> list[Change]:
        """Return how the second tree differs from the first; repositories within the work tree are left out.

        Raises:
            GitFailed: One of them is no longer stored.
        """
        trees = (self._complete(old), self._complete(new))
        first, second = self.about(old), self.about(new)
        fields = self.git("diff-tree", "-r", "-z", "--raw", "--no-renames", *trees).split(b"\0")
        found = {}
        for row, name in zip(fields[::2], fields[1::2], strict=False):
            old_mode, mode, old_blob, blob, _ = row.decode().lstrip(":").split(" ")
            if _SUBMODULE in (old_mode, mode):
                continue
            path, there, was = os.fsdecode(name), _existing(mode), _existing(old_mode)
            permissions = second.permissions(path, there) if second is not None else None
            found[path] = Change(path, there, blob, was, old_blob, permissions)
        if first is not None and second is not None:
            self._add_permissions(found, first, second, trees[1])
            self._add_folders(found, first, second, old, new)
        return [found[path] for path in sorted(found)]

    def about(self, name: str) -> About | None:
        """Return permissions and empty folders of a checkpoint; None if it was made by version 1.0.

        Raises:
            GitFailed: It is no longer stored, or is none of a checkpoint.
        """
        if self._last is not None and self._about is not None and name == self._last.tree:
            return self._about
        about = split_name(name)[1]
        if about is None:
            return None
        data = self.git("cat-file", "blob", about)
        try:
            return About.load(data)
        except ValueError as error:
            raise GitFailed(f"{name} is not a checkpoint: {error}") from None

    def folders(self, name: str) -> set[str]:
        """Return the folders of a checkpoint, those that contain nothing included.

        Raises:
            GitFailed: It is no longer stored.
        """
        about = self.about(name)
        found = set(self.git.paths("ls-tree", "-r", "-d", "-z", "--name-only", self._complete(name)))
        return found.union(about.empty, parents_of(about.empty)) if about is not None else found

    def has(self, tree: str) -> bool:
        """Whether a tree is stored."""
        try:
            self.git("ls-tree", "-r", "--name-only", "-z", self._complete(tree))
            self.about(tree)
        except GitFailed:
            return False
        return True

    def ignored(self, paths: Sequence[str], folders: Iterable[str], name: str) -> set[str]:
        """Return which paths are ignored, by the rules of the current work tree or by those in a checkpoint.

        Paths that ``rewind.include`` names are not.

        Args:
            paths: Files, links and folders.
            folders: Those of them that are folders.
            name: The checkpoint.

        Raises:
            GitFailed: git failed.
        """
        if not paths:
            return set()
        included = set(self.git.matches(self._include, "-c", "-o"))
        asked = [path for path in paths if path not in included]
        with self.git.rules_of(self._complete(name)) as then:
            for folder in folders:
                with suppress(OSError):  # a file of the rules is there
                    (then.root / folder).mkdir(parents=True, exist_ok=True)
            return {*self.git.ignored(asked), *then.ignored(asked)}

    def secret(self, paths: Iterable[str]) -> set[str]:
        """Return the paths that are not stored because of the secrets in them, by their names."""
        return self._scanner.secret(paths)

    def protect(self, things: Iterable[str]) -> None:
        """Keep objects for as long as checkpoints are kept."""
        now = int(time.time())
        names = (f"update refs/rewind/{self.session}/{now}-{each[:12]} {each}\n" for each in things)
        self.git("update-ref", "--stdin", data="".join(names).encode())

    def _open(self) -> None:
        objects = ignored = None
        sha256 = False
        if self._repository is not None:
            common = self._repository.common
            objects, ignored = common / "objects", common / "info" / "exclude"
            sha256 = _has_long_names(common)
        self.git.create(objects, ignored, sha256=sha256)
        self._remove_lock()
        if self.touched is not None:
            self.touched.begin()
            begun = Seed(self.git.paths("ls-files", "-z") if self.git.index.exists() else ())
        else:
            begun = seed(self.git, self.root, self._repository)
        self._scanner.too_large = frozenset(begun.too_large)
        self._usual = self._find_usual()
        about = self._known_about(begun.about)
        self._modes = {path: mode for path, mode in about.modes.items() if path[-1] != "/"} if about is not None else {}
        self._recent, self._missing = set(), list(begun.missing)
        self._observe(begun.names if about is None else begun.recent, begun.found)
        self._folders = parents_of(begun.names)

    def _known_about(self, name: str | None) -> About | None:
        """Return the permissions that belong to an index; None if they have to be examined."""
        try:
            about = About.load(self.git("cat-file", "blob", name)) if name is not None else None
        except GitFailed:  # pruned
            return None
        return about if about is not None and about.usual == self._usual else None

    def _remove_lock(self) -> None:
        """Remove the lock of the session's index if its process was killed."""
        lock = self.git.index.with_name(f"{self.git.index.name}.lock")
        until = time.monotonic() + _LOCK_WAIT
        while lock.exists():
            if time.monotonic() > until:
                lock.unlink(missing_ok=True)
            time.sleep(0.02)

    def _find_usual(self) -> Usual:
        """Return the usual permissions: those that a file of the store got from the user's umask when it was made."""
        return usual_of((self.git.store / "info" / "exclude").stat().st_mode)

    def _record(self, found: Scan, last: Checkpoint | None, folders: Collection[str] = ()) -> Checkpoint:
        """Bring the index up to date, and store it with permissions, empty folders and the given ones."""
        self._update(found)
        self._observe({*found.there, *self._recent})
        self._folders |= parents_of(found.there)
        about = self._about_now(found, folders)
        old_tree, old_about = split_name(last.tree) if last is not None else ("", None)
        same = last is not None and not found.gone and not found.there
        tree = old_tree
        if not same:
            written = self.git("write-tree").decode().strip()
            tree = written if self.touched is None else self.touched.named(written)
        if same and about == self._about and last is not None and tuple(found.left_out) == last.left_out:
            return last
        if old_about is None or about != self._about:
            old_about = self.git("hash-object", "-w", "--stdin", data=about.dump()).decode().strip()
        self.protect([tree.partition("+")[0], old_about])
        note_state(self.git.index, old_about, self._recent)
        self._about = about
        self._last = Checkpoint(f"{tree}:{old_about}", tuple(found.left_out))
        self._stamp = self._index_stamp()
        return self._last

    def _update(self, found: Scan) -> None:
        if found.gone:
            self._gone.update(found.gone)
            self.git.feed(found.gone, "update-index", "--force-remove", "-z", "--stdin")
        if found.there:
            self.git.feed(found.there, "update-index", "--add", "--remove", "--replace", "-z", "--stdin")
        for path in found.gone:
            self._modes.pop(path, None)

    def _observe(self, paths: Iterable[str], known: Mapping[str, os.stat_result] = MappingProxyType({})) -> None:
        """Record the permissions of files that differ from the usual ones."""
        root, now, usual = f"{self.root}/", time.time() - _SAME_SECOND, self._usual
        recent = set()
        for path in paths:
            try:
                found = known.get(path) or os.lstat(root + path)
            except OSError:
                self._modes.pop(path, None)
                continue
            mode = found.st_mode
            if found.st_ctime >= now:
                recent.add(path)
            if stat.S_ISREG(mode) and stat.S_IMODE(mode) != usual.of_file(mode):
                self._modes[path] = stat.S_IMODE(mode)
            else:
                self._modes.pop(path, None)
        self._recent = recent

    def _about_now(self, found: Scan, folders: Collection[str]) -> About:
        known = found.empty
        if known is None:
            known = {*self._about.empty} if self._about is not None else set()
        empty = {each for each in known | parents_of(found.gone) if _is_empty(self.root / each)}.union(folders)
        modes = dict(self._modes)
        for folder in () if self.touched is not None else (*self._folders, *empty, *parents_of(empty)):
            try:
                mode = os.lstat(f"{self.root}/{folder}").st_mode
            except OSError:
                self._folders.discard(folder)
                continue
            if stat.S_ISDIR(mode) and stat.S_IMODE(mode) != self._usual.program:
                modes[f"{folder}/"] = stat.S_IMODE(mode)
        return About(self._usual, modes, frozenset(empty))

    def _add_permissions(self, found: dict[str, Change], first: About, second: About, tree: str) -> None:
        """Add the files that differ only in their permissions."""
        rows = {path for path, _ in first.modes.items() ^ second.modes.items() if not path.endswith("/")}
        if first.usual != second.usual:
            rows.update(self.git.paths("ls-tree", "-r", "-z", "--name-only", tree))
        rows -= found.keys()
        if not rows:
            return
        for row in self.git.paths("ls-tree", "-r", "-z", tree):
            about, _, path = row.partition("\t")
            mode, _, blob = about.split(" ")
            if path in rows and first.permissions(path, mode) != second.permissions(path, mode):
                found[path] = Change(path, mode, blob, mode, blob, second.permissions(path, mode))

    def _add_folders(self, found: dict[str, Change], first: About, second: About, old: str, new: str) -> None:
        """Add the empty folders that are new or gone, and folders with other permissions."""
        rows = {path[:-1] for path, _ in first.modes.items() ^ second.modes.items() if path.endswith("/")}
        rows |= first.empty ^ second.empty
        if not rows:
            return
        before, after = self.folders(old), self.folders(new)
        for path in rows:
            was, now = (FOLDER if path in each else None for each in (before, after))
            permissions = second.permissions(path, now)
            if was != now or first.permissions(path, was) != permissions:
                found[f"{path}/"] = Change(path, now, "", was, "", permissions)

    def _index_stamp(self) -> tuple[int, int] | None:
        try:
            found = self.git.index.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size

    def _complete(self, name: str) -> str:
        tree = split_name(name)[0]
        return tree if self.touched is None else self.touched.complete(tree)

    def _is_limited(self, is_too_large: Callable[[Path], bool]) -> bool:
        """Whether only the paths that pi writes are stored; decided when the session began, not by the current size."""
        if self.in_repository:
            return False
        if touched_file(self.git.store, self.session).exists():
            return True
        return not self.git.index.exists() and is_too_large(self.root)


def store_of(folder: Path, root: Path) -> Path:
    """Return the store of a work tree, given the parent folder of all stores."""
    return folder / f"{root.name or 'root'}-{hashlib.sha256(os.fsencode(root)).hexdigest()[:12]}"


def _existing(mode: str) -> str | None:
    return None if mode == _ABSENT else mode


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _is_empty(folder: Path) -> bool:
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is None
    except OSError:
        return False


def _has_long_names(common: Path) -> bool:
    """Whether the objects of a repository have names of SHA-256."""
    try:
        return "objectformat = sha256" in (common / "config").read_text(errors="replace").lower()
    except OSError:
        return False

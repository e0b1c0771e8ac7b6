"""Finds the protected files below the folders that programs may change, and reads them.

A folder that has not changed since the last scan is not listed again: that costs one system call a folder.
"""

from __future__ import annotations

import os
import stat
import time
from collections import deque
from typing import TYPE_CHECKING

from attrs import evolve, field, frozen

from pi_sandbox.repositories import GIT_FILES, gitlinks, is_repository

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

__all__ = ["Item", "Scan", "Scanner", "read_item"]

_LIMIT = 1 << 24
"""Maximum size in bytes of a protected file that is kept in memory; larger ones are not restored."""
_MOST_ITEMS = 4000
_MOST_FOLDERS = 20_000
"""Nearer folders come first."""
_SETTLED = 100_000_000
"""Nanoseconds after which another change of a file has another time stamp."""
_DEPENDENCIES = ("node_modules", "site-packages")
"""Folders of packages, which contain such files of their own; repositories there count if a repository names them."""
OWN_FILES = (
    *("settings.json", "models.json", "mcp.json", "trust.json", "keybindings.json", "AGENTS.md", "CLAUDE.md"),
    *("SYSTEM.md", "APPEND_SYSTEM.md", "extensions", "skills", "prompts", "themes", "agents", "packages"),
)
"""What decides about later sessions in pi's own directory; it writes the rest itself all the time."""


@frozen
class Item:
    """A protected file, link or folder, or one below it.

    Attributes:
        mode: Its kind and permissions.
        content: The content of a file or the target of a link; None for a folder and for a large file.
        stamp: Changes with the file: its number, size and time of change.
        settled: Whether it was read long enough after its last change for another one to change the stamp.
        name: Its path below the folder that holds it, such as ``.pi/settings.json``, or ``config`` in a git folder.
        folder: The folder that holds it.
        place: That folder's device and number.
        git: Whether the folder is a git folder.
    """

    mode: int
    content: bytes | None
    stamp: tuple[int, int, int]
    settled: bool = False
    name: str = ""
    folder: str = ""
    place: tuple[int, int] = (0, 0)
    git: bool = False

    def is_same(self, other: Item | None) -> bool:
        """Whether kind, permissions and content are equal."""
        if other is None or self.mode != other.mode:
            return False
        return self.stamp == other.stamp if self.is_large else self.content == other.content

    @property
    def is_large(self) -> bool:
        """Whether it is a file whose content was not kept."""
        return self.content is None and stat.S_ISREG(self.mode)


@frozen
class Scan:
    """What was found.

    Attributes:
        items: By path.
        folders: The scanned folders, by device and number.
        repositories: Paths of the git folders.
    """

    items: dict[str, Item] = field(factory=dict)
    folders: dict[tuple[int, int], str] = field(factory=dict)
    repositories: set[str] = field(factory=set)


@frozen
class _Listing:
    """A folder's content, as far as it counts.

    Attributes:
        stamp: Changes with the content.
        below: Paths of the folders in it that are scanned, too.
        found: Names of protected files that it may hold.
        git: Whether it is a git folder.
        linked: The repositories that its index names, if it is a git folder.
    """

    stamp: tuple[int, int, int]
    settled: bool
    below: tuple[str, ...]
    found: tuple[str, ...]
    git: bool
    linked: tuple[str, ...] = ()


class Scanner:
    """Finds the protected files.

    Args:
        names: Names of files that are protected in every folder of the project.
        cwd: The project's folder.
        roots: Folders that programs may change; outside of ``cwd`` the names count in these folders alone.
        hidden: Folders that are not scanned.
        agent_dir: pi's own directory, of which only a part is compared.
        released: Paths that the user lets programs change although their names are protected.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        cwd: str,
        roots: Sequence[str],
        hidden: Collection[str],
        agent_dir: str,
        released: Collection[str] = (),
    ) -> None:
        self._names: dict[str, list[str]] = {}
        for name in names:
            self._names.setdefault(name.partition("/")[0], []).append(name)
        self._cwd, self._roots, self._hidden, self._agent_dir = cwd, tuple(roots), frozenset(hidden), agent_dir
        self._released = released
        self._listings: dict[str, _Listing] = {}
        self._items: dict[str, Item] = {}
        self._indexes: dict[str, tuple[Item, tuple[str, ...]]] = {}
        """By path: the state of an index, without its content, and the repositories that it names."""

    def add(self, root: str) -> None:
        """Scan another folder, too."""
        self._roots = (*self._roots, root)

    def covers(self, path: str) -> bool:
        """Return whether a path is below a scanned folder."""
        return any(path.startswith(root.rstrip("/") + "/") for root in self._roots)

    def scan(self) -> Scan:
        """Return the present state."""
        found = Scan()
        listings: dict[str, _Listing] = {}
        waiting = deque(self._roots)
        while waiting and len(listings) < _MOST_FOLDERS:
            path = waiting.popleft()
            listing = self._list(path) if path not in listings else None
            if listing is None:
                continue
            listings[path] = listing
            place = listing.stamp[:2]
            found.folders[place] = path
            if listing.git:
                found.repositories.add(path)
            for name in listing.found:
                self._read(path, name, place, listing.git, found.items)
            waiting.extend(listing.below)
            waiting.extend(self._linked_folders(path, listing.linked))
        self._listings, self._items = listings, found.items
        return found

    def _linked_folders(self, git_folder: str, names: Iterable[str]) -> Iterator[str]:
        """Yield the folders that an index names, relative to the repository's; programs may have written anything."""
        for top in (os.path.dirname(git_folder), self._cwd):
            for name in names:
                path = os.path.normpath(os.path.join(top, name))
                if self.covers(path) and os.path.realpath(path) == path:
                    yield path

    def _list(self, path: str) -> _Listing | None:
        if path in self._hidden:
            return None
        try:
            status = os.lstat(path)
        except OSError:
            return None
        if not stat.S_ISDIR(status.st_mode):
            return None
        stamp = (status.st_dev, status.st_ino, status.st_ctime_ns)
        known = self._listings.get(path)
        if known is not None and known.settled and known.stamp == stamp and not known.git:
            return known
        settled = time.time_ns() - status.st_ctime_ns > _SETTLED
        if path == self._agent_dir:
            return _Listing(stamp, settled, (), OWN_FILES, git=False)
        try:
            with os.scandir(path) as entries:
                kinds = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
        except OSError:
            kinds = {}
        git = is_repository(set(kinds))
        below = [name for name, is_folder in kinds.items() if is_folder]
        if git and ".git" in path.split("/"):
            below = [name for name in below if name in ("modules", "worktrees")]
        below = [name for name in below if name not in _DEPENDENCIES]
        found = [*GIT_FILES] if git else []
        if ".git" in kinds and not kinds[".git"]:
            found.append(".git")
        if self._names_count_in(path):
            found += [each for name in kinds if name in self._names for each in self._names[name]]
        paths = tuple(os.path.join(path, name) for name in below)
        return _Listing(stamp, settled, paths, tuple(found), git, self._linked(path, kinds) if git else ())

    def _linked(self, git_folder: str, names: Iterable[str]) -> tuple[str, ...]:
        """Return the repositories that an index names; all folders of packages if it cannot be understood."""
        found: list[str] = []
        for name in names:
            if name == "index" or name.startswith("sharedindex."):
                found += self._linked_by(os.path.join(git_folder, name))
        return tuple(found)

    def _linked_by(self, index: str) -> Sequence[str]:
        known, linked = self._indexes.get(index, (None, ()))
        item = read_item(index, known)
        if item is None:
            return ()
        if item is not known:
            names = gitlinks(item.content) if item.content is not None else None
            linked = _DEPENDENCIES if names is None else tuple(names)
            self._indexes[index] = evolve(item, content=None), linked
        return linked

    def _names_count_in(self, path: str) -> bool:
        if path in self._roots:
            return True
        inside = path.startswith(self._cwd.rstrip("/") + "/")
        return inside and not any(f"/{name}/" in f"{path}/" for name in _DEPENDENCIES)

    def _read(self, folder: str, name: str, place: tuple[int, int], git: bool, items: dict[str, Item]) -> None:  # noqa: FBT001 - of the listing
        """Add the items of one protected name: the file, what is below it, and a link on the way to it."""
        first, _, rest = name.partition("/")
        path = os.path.join(folder, first)
        while rest and os.path.isdir(path) and not os.path.islink(path):
            first, _, rest = rest.partition("/")
            path = os.path.join(path, first)
        if (rest and not os.path.islink(path)) or path in self._released:
            return
        for each in self._below(path):
            if len(items) >= _MOST_ITEMS:
                return
            item = self._item(each)
            if item is not None:
                below = os.path.relpath(each, folder)
                items[each] = evolve(item, name=below, folder=folder, place=place, git=git)

    def _below(self, path: str) -> Iterator[str]:
        yield path
        if not os.path.islink(path):
            for folder, folders, files in os.walk(path):
                if self._agent_dir.startswith(folder.rstrip("/") + "/"):
                    folders[:] = [name for name in folders if os.path.join(folder, name) != self._agent_dir]
                for name in (*folders, *files):
                    yield os.path.join(folder, name)

    def _item(self, path: str) -> Item | None:
        return read_item(path, self._items.get(path))


def read_item(path: str, known: Item | None = None) -> Item | None:
    """Return a file as it is now; None if there is none, or it cannot be read.

    Args:
        path: Its path.
        known: Its earlier state, whose content is used if the file was not changed since.
    """
    try:
        status = os.lstat(path)
        stamp = (status.st_ino, status.st_size, status.st_ctime_ns)
        if known is not None and known.settled and (known.stamp, known.mode) == (stamp, status.st_mode):
            return known
        settled = time.time_ns() - status.st_ctime_ns > _SETTLED
        content = None
        if stat.S_ISLNK(status.st_mode):
            content = os.fsencode(os.readlink(path))
        elif stat.S_ISREG(status.st_mode) and status.st_size <= _LIMIT:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(descriptor, "rb") as file:
                content = file.read(_LIMIT)
    except OSError:
        return None
    return Item(status.st_mode, content, stamp, settled)

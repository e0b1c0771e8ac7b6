"""Compares a work tree with the index of the store: what is new, changed, gone, empty, or not to be stored.

git lists; this module decides what each path is now, because git stores a folder in place of a file or a link only if
the old path is removed first, and says nothing about empty folders.
"""

from __future__ import annotations

import os
import stat
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from attrs import field, frozen

from pi_rewind.git import ask_repository

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from pi_rewind.git import Git, Runner

__all__ = ["SECRET_FILES", "Boundaries", "Scan", "Scanner"]

LARGEST_FILE = 50_000_000
"""Bytes above which a file is not stored."""
SECRET_FILES = (
    ".env",
    ".env.*",
    ".envrc",
    ".git-credentials",
    ".htpasswd",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    ".vault-token",
    "*.jks",
    "*.kdbx",
    "*.key",
    "*.keystore",
    "*.p12",
    "*.pem",
    "*.pfx",
    "*.ppk",
    "auth.json",
    "credentials",
    "credentials.json",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_rsa",
)
"""Names of files with secrets; they are stored only if the repository contains them, or a setting asks for it."""
_HARMLESS = (".env.example", ".env.sample", ".env.template", ".env.*.example", ".env.dist")
_MOST_ARGUMENTS = 500


@frozen
class Scan:
    """What differs from the index.

    Attributes:
        gone: Paths of the index that do not exist, or are folders now.
        there: Files and links to store.
        left_out: Files that are not stored, and repositories within the work tree, which end with ``/``.
        empty: Folders that contain nothing; None if that was not examined.
    """

    gone: list[str] = field(factory=list)
    there: list[str] = field(factory=list)
    left_out: list[str] = field(factory=list)
    empty: set[str] | None = None


class Boundaries:
    """Knows which folders of a work tree are links or other repositories; what is behind them is not part of it."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._links = {"": False}
        self._repositories: dict[str, str | None] = {"": None}

    def behind_link(self, path: str) -> bool:
        """Whether a path is behind a link."""
        folder = path.rpartition("/")[0]
        if folder not in self._links:
            self._links[folder] = self.behind_link(folder) or os.path.islink(os.path.join(self._root, folder))
        return self._links[folder]

    def repository(self, path: str) -> str | None:
        """Return the folder of the repository within the work tree to which a path belongs; None if to none."""
        folder = path.rpartition("/")[0]
        if folder not in self._repositories:
            outer = self.repository(folder)
            own = outer is None and self.is_repository(folder)
            self._repositories[folder] = folder if own else outer
        return self._repositories[folder]

    def is_repository(self, folder: str) -> bool:
        """Whether a folder other than the root is the top of a repository."""
        full = os.path.join(self._root, folder)
        return os.path.lexists(os.path.join(full, ".git")) and not os.path.islink(full)


class Scanner:
    """Scans one work tree.

    Args:
        git: The store, with the index of the session.
        root: The work tree.
        include: Patterns of files that are stored although they are ignored or contain secrets.
        repository: The user's repository; None without one.
    """

    def __init__(self, git: Git, root: Path, include: Sequence[str], repository: Runner | None) -> None:
        self._git = git
        self._root = root
        self._include = tuple(include)
        self._repository = repository
        self.too_large: frozenset[str] = frozenset()

    def whole(self, missing: Sequence[str] = ()) -> Scan:
        """Scan everything.

        Args:
            missing: Paths that are stored although they are neither in the index nor, perhaps, listed as new.
        """
        git, root = self._git, self._root
        changed = git.paths("diff-files", "-z", "--name-only", "--ignore-submodules=all")
        others = git.paths("ls-files", "-z", "-o", "--directory", "--exclude-standard")
        boundaries = Boundaries(root)
        found = Scan(empty=set())
        listed = [name for name in others if name.endswith("/")]
        became = [f"{name}/" for name in changed if _is_folder(os.path.join(root, name))]
        folders = [each for each in dict.fromkeys((*listed, *became)) if not boundaries.is_repository(each[:-1])]
        found.left_out.extend({*listed, *became}.difference(folders))
        new = [name for name in others if not name.endswith("/")]
        if folders:
            below = ("--", *folders) if len(folders) <= _MOST_ARGUMENTS else ()
            new += self._git.paths("ls-files", "-z", "-o", "--exclude-standard", *below)
            ignored = set(self._git.paths("ls-files", "-z", "-o", "-i", "--directory", "--exclude-standard", *below))
            for folder in folders:
                found.empty.update(self._empty_below(folder, ignored, boundaries))  # type: ignore[union-attr]
        new += git.matches(self._include, "-o", "-i", "--exclude-standard")
        self._sort(changed, (*missing, *new), found, boundaries)
        return found

    def some(self, paths: Sequence[str]) -> Scan:
        """Scan only the given paths, unless they are ignored."""
        changed = self._git.paths("ls-files", "-z", "-c", "--", *paths)
        new = self._git.paths("ls-files", "-z", "-o", "--exclude-standard", "--", *paths)
        found = Scan()
        self._sort(changed, new, found, Boundaries(self._root))
        return found

    def exactly(self, paths: Iterable[str]) -> Scan:
        """Scan only the given paths, ignored or not."""
        found = Scan()
        self._sort(list(paths), [], found, Boundaries(self._root))
        return found

    def secret(self, paths: Iterable[str]) -> set[str]:
        """Return the paths that are not stored because of the secrets in them, by their names."""
        named = [path for path in paths if _is_secret(path.rpartition("/")[2])]
        if not named:
            return set()
        own = ask_repository(self._repository, "ls-files", "-z", "-c", "--", *named) if self._repository else []
        return set(named).difference(own, self._git.matches(self._include, "-c", "-o"))

    def _empty_below(self, folder: str, ignored: set[str], boundaries: Boundaries) -> Iterator[str]:
        """Yield the folders that contain nothing, in a folder that ends with ``/``, itself included."""
        waiting = [folder]
        while waiting:
            here = waiting.pop()
            name = here.rstrip("/")
            if here in ignored or boundaries.is_repository(name):
                continue
            try:
                with os.scandir(os.path.join(self._root, name)) as entries:
                    inner = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
            except OSError:
                continue
            if not inner:
                yield name
            waiting += [f"{here}{each}/" for each, is_folder in inner if is_folder]

    def _sort(self, indexed: Sequence[str], new: Sequence[str], found: Scan, boundaries: Boundaries) -> None:
        secret = self.secret((*indexed, *new))
        known = set(indexed)
        for path in dict.fromkeys((*indexed, *new)):
            state = self._state(path, boundaries)
            if state == "there" and path not in secret:
                found.there.append(path)
                continue
            if state != "gone":
                found.left_out.append(path)
            if path in known:
                found.gone.append(path)

    def _state(self, path: str, boundaries: Boundaries) -> str:
        """Return ``gone``, ``there`` or ``left out``; a repository is left out, not each of its files."""
        full = os.path.join(self._root, path)
        if path.endswith("/"):
            return "left out"
        try:
            found = os.lstat(full)
        except OSError:
            return "gone"
        mode = found.st_mode
        if stat.S_ISDIR(mode) or boundaries.behind_link(path) or boundaries.repository(path) is not None:
            return "gone"
        is_small = path not in self.too_large and found.st_size <= LARGEST_FILE and os.access(full, os.R_OK)
        return "there" if stat.S_ISLNK(mode) or (stat.S_ISREG(mode) and is_small) else "left out"


def _is_folder(full: str) -> bool:
    return os.path.isdir(full) and not os.path.islink(full)


def _is_secret(name: str) -> bool:
    lowered = name.lower()
    if any(fnmatchcase(lowered, pattern) for pattern in _HARMLESS):
        return False
    return any(fnmatchcase(lowered, pattern) for pattern in SECRET_FILES)

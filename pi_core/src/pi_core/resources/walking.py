"""Walks resource folders: applies ignore files, visits no folder twice, and limits the number of entries."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING, Any

import pi_hookspecs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pi_hookspecs import ResourceProblem

__all__ = ["Walk", "relative_files"]

IGNORE_FILES = (".gitignore", ".ignore", ".fdignore")
SKIPPED = "node_modules"

MAX_PER_FOLDER = 10_000
"""Limit of entries in each folder directly below the root, which takes about 10 ms at each prompt. Without the
limit, a link to a home folder or to the root of a disk takes half a minute."""

MAX_TOTAL = 50_000
"""Limit of entries below one root."""

MAX_DEPTH = 20
"""Limit of nested folders."""


class Walk:
    """A walk through folders that visits no folder twice.

    Args:
        accepts: Returns whether to yield a file, given its name and depth below the root.
        report: Called with each folder that cannot be read, or that exceeds a limit.
        recursive: Whether to enter subfolders.
    """

    def __init__(
        self, accepts: Callable[[str, int], bool], report: Callable[[ResourceProblem], None], *, recursive: bool
    ) -> None:
        self._accepts = accepts
        self._recursive = recursive
        self._report = report
        self._visited: set[tuple[int, int]] = set()

    def files(self, root: str) -> Iterator[str]:
        """Yield the accepted files sorted by name, with a folder's own files before the files of its subfolders."""
        yield from self._folder(root, 0, (), _EntryLimit(root, MAX_TOTAL))

    def _folder(self, folder: str, depth: int, ignores: Sequence[_Ignore], limit: _EntryLimit) -> Iterator[str]:
        entries = self._entries(folder, depth, limit)
        ignores = (*ignores, *_ignores(folder, entries, self._report))
        folders = []
        for entry in entries:
            if entry.name.startswith(".") or entry.name == SKIPPED:
                continue
            is_folder = _is_folder(entry)
            if any(each.ignores(entry.path, is_folder=is_folder) for each in ignores):
                continue
            if is_folder:
                folders.append(entry.path)
            elif self._accepts(entry.name, depth):
                yield entry.path
        if self._recursive:
            for path in folders:
                folder_limit = limit if depth else _EntryLimit(path, MAX_PER_FOLDER, limit)
                yield from self._folder(path, depth + 1, ignores, folder_limit)

    def _entries(self, folder: str, depth: int, limit: _EntryLimit) -> Sequence[os.DirEntry[str]]:
        """Return the entries of a folder; empty if it was already visited or a limit is exceeded."""
        if limit.is_exceeded:
            return ()
        try:
            status = os.stat(folder)
            if (status.st_dev, status.st_ino) in self._visited:  # a cycle of links, or another link to it
                return ()
            self._visited.add((status.st_dev, status.st_ino))
            with os.scandir(folder) as found:
                entries = sorted(islice(found, limit.left + 1), key=lambda entry: entry.name)
        except OSError as error:
            problem = pi_hookspecs.ResourceProblem(path=folder, message=f"cannot be listed: {error.strerror}")
        else:
            too_much = limit.take(depth, len(entries))
            if too_much is None:
                return entries
            problem = too_much
        self._report(problem)
        return ()


class _EntryLimit:
    """Limits the entries that are visited below the root and below each folder directly in it.

    A folder with too many entries therefore does not use up the limit of other folders, and the problem names it.
    """

    def __init__(self, folder: str, maximum: int, parent: _EntryLimit | None = None) -> None:
        self._folder = folder
        self._maximum = maximum
        self._left = maximum
        self._parent = parent

    @property
    def left(self) -> int:
        """The number of entries that may still be visited."""
        return self._left if self._parent is None else min(self._left, self._parent.left)

    @property
    def is_exceeded(self) -> bool:
        """Whether the limit was exceeded and reported; nothing more is visited."""
        return self._left < 0 or (self._parent is not None and self._parent.is_exceeded)

    def take(self, depth: int, entries: int) -> ResourceProblem | None:
        """Count a folder's entries; return a problem, and mark the limit as exceeded, if there are too many."""
        if depth > MAX_DEPTH:
            self._left = -1
            return self._problem(f"has folders nested more than {MAX_DEPTH} deep")
        if self._parent is not None and (problem := self._parent.take(0, entries)) is not None:
            return problem
        self._left -= entries
        return self._problem(f"contains more than {self._maximum:,} files and folders") if self._left < 0 else None

    def _problem(self, what: str) -> ResourceProblem:
        advice = "If it is a link to a larger folder, link only what is needed"
        return pi_hookspecs.ResourceProblem(path=self._folder, message=f"{what}; the rest is ignored. {advice}")


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


class _Ignore:
    """The patterns of an ignore file, in the syntax of gitignore."""

    def __init__(self, folder: str, spec: Any) -> None:
        self.folder = folder
        self.spec = spec

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        relative = path[len(self.folder) + 1 :].replace(os.sep, "/")
        return bool(self.spec.match_file(f"{relative}/" if is_folder else relative))


def _ignores(
    folder: str, entries: Sequence[os.DirEntry[str]], report: Callable[[ResourceProblem], None]
) -> Iterator[_Ignore]:
    present = [entry.path for entry in entries if entry.name in IGNORE_FILES]
    if not present:
        return
    from pathspec import GitIgnoreSpec  # imported only if there is an ignore file

    for path in present:
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                spec = GitIgnoreSpec.from_lines(file)
        except (OSError, ValueError) as error:
            report(pi_hookspecs.ResourceProblem(path=path, message=f"cannot be used: {error}; it ignores nothing"))
        else:
            yield _Ignore(folder.rstrip(os.sep), spec)


def relative_files(folder: str) -> Iterator[str]:
    """Yield all files below a folder that no ignore file excludes, relative to it and with forward slashes."""
    walk = Walk(lambda _name, _depth: True, lambda _problem: None, recursive=True)
    for path in walk.files(folder):
        yield os.path.relpath(path, folder).replace(os.sep, "/")

"""Walks the folders in which resources lie: what is ignored there is left out, and nothing is met twice (pi.md 11)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from pi_hookspecs.resources import ResourceProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["Walk"]

IGNORE_FILES = (".gitignore", ".ignore", ".fdignore")
LEFT_OUT = "node_modules"


class Walk:
    """One walk through folders; a folder that it has been to is not entered again.

    Args:
        accepts: Whether a file is wanted: its name, and how many folders deep it lies.
        recursive: Whether to go into folders inside.
        complain: Told of folders that cannot be read.
    """

    def __init__(
        self, accepts: Callable[[str, int], bool], complain: Callable[[ResourceProblem], None], *, recursive: bool
    ) -> None:
        self._accepts = accepts
        self._recursive = recursive
        self._complain = complain
        self._been: set[tuple[int, int]] = set()

    def files(self, root: str) -> Iterator[str]:
        """Go through the wanted files, by name, those of a folder before those of the folders inside."""
        yield from self._folder(root, 0, ())

    def _folder(self, folder: str, depth: int, ignores: Sequence[_Ignore]) -> Iterator[str]:
        try:
            mark = os.stat(folder)
            if (mark.st_dev, mark.st_ino) in self._been:  # a link that leads back, or a second one to the same place
                return
            self._been.add((mark.st_dev, mark.st_ino))
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            self._complain(ResourceProblem(path=folder, message=f"cannot be looked into: {error.strerror}"))
            return
        ignores = (*ignores, *_ignores(folder, entries, self._complain))
        folders = []
        for entry in entries:
            if entry.name.startswith(".") or entry.name == LEFT_OUT:
                continue
            is_folder = _is_folder(entry)
            if any(each.covers(entry.path, is_folder=is_folder) for each in ignores):
                continue
            if is_folder:
                folders.append(entry.path)
            elif self._accepts(entry.name, depth):
                yield entry.path
        if self._recursive:
            for path in folders:
                yield from self._folder(path, depth + 1, ignores)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


class _Ignore:
    """What an ignore file of a folder says, in the language of git."""

    def __init__(self, folder: str, spec: Any) -> None:
        self.folder = folder
        self.spec = spec

    def covers(self, path: str, *, is_folder: bool) -> bool:
        relative = path[len(self.folder) + 1 :].replace(os.sep, "/")
        return bool(self.spec.match_file(f"{relative}/" if is_folder else relative))


def _ignores(
    folder: str, entries: Sequence[os.DirEntry[str]], complain: Callable[[ResourceProblem], None]
) -> Iterator[_Ignore]:
    present = [entry.path for entry in entries if entry.name in IGNORE_FILES]
    if not present:
        return
    from pathspec import GitIgnoreSpec  # where nothing is ignored nothing is imported

    for path in present:
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                spec = GitIgnoreSpec.from_lines(file)
        except (OSError, ValueError) as error:
            complain(ResourceProblem(path=path, message=f"cannot be used: {error}; it ignores nothing"))
        else:
            yield _Ignore(folder.rstrip(os.sep), spec)

"""Walks the folders in which resources lie: what is ignored is left out, nothing is met twice, no walk is endless."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING, Any

from pi_hookspecs.resources import ResourceProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["Walk"]

IGNORE_FILES = (".gitignore", ".ignore", ".fdignore")
LEFT_OUT = "node_modules"

MOST_INSIDE = 10_000
"""Files and folders that are looked at in each folder directly below the root: some 10 ms at each prompt. A link to a
home folder or to the root of a disk would take half a minute."""

MOST_IN_ALL = 50_000
"""Files and folders that are looked at below one root."""

DEEPEST = 20
"""Folders inside each other that are entered."""


class Walk:
    """One walk through folders; a folder that it has been to is not entered again.

    Args:
        accepts: Whether a file is wanted: its name, and how many folders deep it lies.
        recursive: Whether to go into folders inside.
        complain: Called with each folder that cannot be read, or not as a whole because it holds too much.
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
        yield from self._folder(root, 0, (), _Room(root, MOST_IN_ALL))

    def _folder(self, folder: str, depth: int, ignores: Sequence[_Ignore], room: _Room) -> Iterator[str]:
        entries = self._entries(folder, depth, room)
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
                inner = room if depth else _Room(path, MOST_INSIDE, room)
                yield from self._folder(path, depth + 1, ignores, inner)

    def _entries(self, folder: str, depth: int, room: _Room) -> Sequence[os.DirEntry[str]]:
        """Return what is in a folder; nothing where the walk has been to it, or where there is no room for it."""
        if room.is_used_up:
            return ()
        try:
            mark = os.stat(folder)
            if (mark.st_dev, mark.st_ino) in self._been:  # a link that leads back, or a second one to the same place
                return ()
            self._been.add((mark.st_dev, mark.st_ino))
            with os.scandir(folder) as found:
                entries = sorted(islice(found, room.left + 1), key=lambda entry: entry.name)
        except OSError as error:
            problem = ResourceProblem(path=folder, message=f"cannot be looked into: {error.strerror}")
        else:
            too_much = room.enter(depth, len(entries))
            if too_much is None:
                return entries
            problem = too_much
        self._complain(problem)
        return ()


class _Room:
    """How much more is looked at below a folder: below the root, and below each folder directly in it.

    So a folder that holds too much takes nothing from the others, and is the one that the problem names.
    """

    def __init__(self, folder: str, most: int, outer: _Room | None = None) -> None:
        self._folder = folder
        self._most = most
        self._left = most
        self._outer = outer

    @property
    def left(self) -> int:
        """How many entries there is room for."""
        return self._left if self._outer is None else min(self._left, self._outer.left)

    @property
    def is_used_up(self) -> bool:
        """Whether a problem was reported, and nothing more is looked at."""
        return self._left < 0 or (self._outer is not None and self._outer.is_used_up)

    def enter(self, depth: int, entries: int) -> ResourceProblem | None:
        """Take the room for a folder's entries; return the problem where there is too little, and none is left then."""
        if depth > DEEPEST:
            self._left = -1
            return self._problem(f"has folders inside each other, more than {DEEPEST}")
        if self._outer is not None and (problem := self._outer.enter(0, entries)) is not None:
            return problem
        self._left -= entries
        return self._problem(f"holds more than {self._most:,} files and folders") if self._left < 0 else None

    def _problem(self, what: str) -> ResourceProblem:
        advice = "Is it a link to another place? Replace it by links to what is meant"
        return ResourceProblem(path=self._folder, message=f"{what}; the rest of it is not looked at. {advice}")


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

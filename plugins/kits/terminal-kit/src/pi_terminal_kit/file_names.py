"""The names of the files below a directory: from git if possible, else from a directory walk that the caller provides.

git lists a hundred thousand files in the time in which a walk reads a few directories, and it knows ignored files.
"""

from __future__ import annotations

import os
import subprocess
from itertools import chain, islice
from typing import TYPE_CHECKING

from pi_terminal_kit.matching import matcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["MOST_NAMES", "FileNames", "git_names"]

MOST_NAMES = 20_000
"""Maximum number of names kept in memory."""

_QUIET = ("-c", "core.fsmonitor=false", "--no-optional-locks")
"""Prevents ``ls-files`` from starting a program that the repository's settings name, and from writing files."""

_CHUNK = 65_536


class FileNames:
    """The relative paths of the files and directories below a directory, with ``/``; a directory's path ends with it.

    The methods block: call them in a thread.

    Args:
        folder: The directory.
        walk: Yields relative paths of files if git is not available; it may stop early.
        most: The maximum number of names to keep. If there are more, only matching names are kept.
    """

    def __init__(self, folder: str, walk: Callable[[str], Iterable[str]], most: int = MOST_NAMES) -> None:
        self._folder = folder
        self._walk = walk
        self._most = most
        self._all: list[str] | None = None

    def matching(self, typed: str, stopped: Callable[[], bool] = lambda: False) -> list[str]:
        """Return names that may match the typed text, in no particular order.

        The names are read once, unless there are too many of them. Create a new object to read them again.

        Args:
            typed: A part of a path.
            stopped: Returns whether the names are no longer needed; the result is then incomplete.
        """
        match = matcher(typed)
        if self._all is None:
            names = self._names(stopped)
            kept = [*islice(names, self._most + 1)]
            if len(kept) > self._most:
                found = (name for name in chain(kept, names) if match(name) is not None)
                return [*islice(found, self._most)]
            if stopped():
                return []
            self._all = kept
        return [name for name in self._all if match(name) is not None]

    def _names(self, stopped: Callable[[], bool]) -> Iterator[str]:
        folders: set[str] = set()
        listed = git_names(self._folder)
        first = next(listed, None)
        files = self._walk(self._folder) if first is None else chain([first], listed)
        for file in files:
            if stopped():
                return
            if not file.isprintable():  # it cannot be typed or cannot be sent
                continue
            folder = file.rpartition("/")[0]
            while folder and folder not in folders:
                folders.add(folder)
                yield f"{folder}/"
                folder = folder.rpartition("/")[0]
            yield file


def git_names(folder: str) -> Iterator[str]:
    """Yield the files below a directory that git tracks, then untracked files; nothing outside a repository."""
    previous = None
    for which in (["--cached"], ["--others", "--exclude-standard"]):
        for name in _listed(folder, which):
            if name != previous:  # a file with a merge conflict is listed three times
                yield name
            previous = name


def _listed(folder: str, which: list[str]) -> Iterator[str]:
    command = ["git", *_QUIET, "-C", folder, "ls-files", "-z", *which]
    try:
        process = subprocess.Popen(  # noqa: S603 - lists names, and starts nothing itself
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    except OSError:
        return
    with process:
        assert process.stdout is not None  # noqa: S101 - for the type checker
        held = b""
        try:
            while chunk := os.read(process.stdout.fileno(), _CHUNK):
                *names, held = (held + chunk).split(b"\0")
                yield from map(os.fsdecode, names)
        except GeneratorExit:
            process.terminate()
            raise

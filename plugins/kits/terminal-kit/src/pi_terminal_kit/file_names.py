"""The names of the files below a folder: from git where it knows them, else from a walk that the caller brings.

git lists a hundred thousand files in the time in which a walk reads a few folders, and knows what is ignored.
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
"""Names that are kept at once."""

_QUIET = ("-c", "core.fsmonitor=false", "--no-optional-locks")
"""A repository's settings may name a program that ``ls-files`` would start. And nothing is written."""

_CHUNK = 65_536


class FileNames:
    """The names of the files and folders below a folder, as relative paths with ``/``, folders with one at the end.

    Blocking: call it in a thread.

    Args:
        folder: The folder.
        walk: Yields relative paths of files where there is no git; it may stop itself.
        most: How many names to keep; of more, only those that match what is typed.
    """

    def __init__(self, folder: str, walk: Callable[[str], Iterable[str]], most: int = MOST_NAMES) -> None:
        self._folder = folder
        self._walk = walk
        self._most = most
        self._all: list[str] | None = None

    def matching(self, typed: str, stopped: Callable[[], bool] = lambda: False) -> list[str]:
        """Return names that may match what is typed, in no order.

        They are read once, unless there are too many; make another object to read them again.

        Args:
            typed: A part of a path.
            stopped: Whether the names are no longer needed; they are incomplete then.
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
            if not file.isprintable():  # it cannot be typed, or not be sent
                continue
            folder = file.rpartition("/")[0]
            while folder and folder not in folders:
                folders.add(folder)
                yield f"{folder}/"
                folder = folder.rpartition("/")[0]
            yield file


def git_names(folder: str) -> Iterator[str]:
    """Yield the files below a folder that git knows, then those that are new; nothing where git knows nothing."""
    previous = None
    for which in (["--cached"], ["--others", "--exclude-standard"]):
        for name in _listed(folder, which):
            if name != previous:  # a file that is being merged is listed three times
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

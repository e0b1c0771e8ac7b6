"""The names of the files and directories below a directory, read once unless there are too many to keep."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING

from pi_terminal_kit.matching import matcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["MOST_NAMES", "FileNames"]

MOST_NAMES = 20_000
"""Maximum number of names kept in memory."""


class FileNames:
    """The relative paths of the files and directories below a directory, with ``/``; a directory's path ends with it.

    The methods block: call them in a thread.

    Args:
        folder: The directory.
        walk: Yields the relative paths of its files, as git lists them or from a walk; it may stop early.
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
        for file in self._walk(self._folder):
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

"""Completion with Tab: commands and their arguments, ``@files`` of the folder, paths."""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING

from prompt_toolkit.completion import Completer, Completion, ThreadedCompleter

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

__all__ = ["CommandCompleter", "FileCompleter", "PathCompleter", "line_completer"]

_MOST_FILES = 20_000
"""Maximum number of files that are examined."""

_MOST_SECONDS = 2.0
"""Maximum seconds for scanning a folder."""

_MOST_OFFERED = 100

_AT_WORD = re.compile(r'(?:^|(?<=[\s(\[{<]))@("[^"]*|[^\s"]*)$')

_LAST_WORD = re.compile(r"[^\s\"'()\[\]{}<>=,;]+$")


def line_completer(
    names: Callable[[], Iterable[tuple[str, str]]],
    arguments: Callable[[str, str], Iterable[tuple[str, str]]],
    folder: Callable[[], Path],
) -> Completer:
    """Return the completer of a line.

    Args:
        names: Returns names and descriptions of the commands.
        arguments: Returns the completions of a command's arguments typed so far, with descriptions.
        folder: Returns the folder that the conversation is about.
    """
    files = ThreadedCompleter(FileCompleter(folder))
    return _FirstThatOffers(CommandCompleter(names, arguments), files, PathCompleter(folder))


class _FirstThatOffers(Completer):
    """Returns the completions of the first completer that has any."""

    def __init__(self, *completers: Completer) -> None:
        self._completers = completers

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        offers = ([*each.get_completions(document, complete_event)] for each in self._completers)
        return next(filter(None, offers), [])

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        for completer in self._completers:
            offers = False
            async for each in completer.get_completions_async(document, complete_event):
                offers = True
                yield each
            if offers:
                return


class CommandCompleter(Completer):
    """Completes a slash command at the beginning of the line: its name, then its arguments; see ``line_completer``."""

    def __init__(
        self,
        names: Callable[[], Iterable[tuple[str, str]]],
        arguments: Callable[[str, str], Iterable[tuple[str, str]]],
    ) -> None:
        self._names = names
        self._arguments = arguments

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Yield the completions of the text before the cursor."""
        text = document.text_before_cursor
        if not text.startswith("/") or "\n" in text:
            return
        typed, space, arguments = text[1:].partition(" ")
        if space:
            for each, description in self._arguments(typed, arguments):
                yield Completion(each, start_position=-len(arguments), display_meta=description)
            return
        for name, description in self._names():
            if name.startswith(typed):
                yield Completion(f"/{name}", start_position=-len(text), display_meta=description)


class FileCompleter(Completer):
    """Completes ``@`` and a part of a path: files below the folder, but for hidden and git-ignored ones.

    Args:
        folder: Returns the folder.
    """

    def __init__(self, folder: Callable[[], Path]) -> None:
        self._folder = folder

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Yield the completions of the text before the cursor."""
        found = _AT_WORD.search(document.text_before_cursor)
        if found is None:
            return
        typed = found[1].lstrip('"')
        for path in _best(_files_below(self._folder()), typed):
            quoted = f'@"{path}"' if " " in path else f"@{path}"
            yield Completion(quoted, start_position=-len(found[1]) - 1, display=path)


class PathCompleter(Completer):
    """Completes the last word as a path, one folder at a time; hidden names only after a typed dot.

    Args:
        folder: Returns the folder that relative paths are below.
    """

    def __init__(self, folder: Callable[[], Path]) -> None:
        self._folder = folder

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Yield the completions of the text before the cursor."""
        text = document.text_before_cursor
        found = _LAST_WORD.search(text)
        if found is None or found[0].startswith("@") or (text.startswith("/") and " " not in text):
            return
        folder, slash, begun = found[0].rpartition("/")
        place = self._folder() / os.path.expanduser(f"{folder}{slash}")  # noqa: PTH111 - ~name keeps its slash
        for name in _names_in(place):
            if name.startswith(begun) and (begun or not name.startswith(".")):
                yield Completion(name, start_position=-len(begun))


def _names_in(folder: Path) -> list[str]:
    """Return the names in a folder, sorted, those of folders with a slash; empty where it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name + "/" * entry.is_dir() for entry in entries)
    except OSError:
        return []


def _files_below(folder: Path) -> Iterator[str]:
    """Yield the files below a folder, as relative paths, up to limits of count and time."""
    from pi_core.resources.walking import Walk

    root = os.fspath(folder)
    end = time.monotonic() + _MOST_SECONDS
    walk = Walk(lambda _name, _depth: True, lambda _problem: None, recursive=True)
    for number, path in enumerate(walk.files(root)):
        if number >= _MOST_FILES or time.monotonic() > end:
            return
        yield os.path.relpath(path, root).replace(os.sep, "/")


def _best(paths: Iterable[str], typed: str) -> Sequence[str]:
    """Return the paths that match a part of one, best first: by how the name begins, what is in it, its letters."""
    wanted = typed.lower()
    letters = re.compile(".*".join(map(re.escape, wanted)))
    ranked = []
    for path in paths:
        low = path.lower()
        name = low.rpartition("/")[2]
        if low.startswith(wanted) or name.startswith(wanted):
            rank = 0
        elif wanted in low:
            rank = 1
        elif letters.search(low):
            rank = 2
        else:
            continue
        ranked.append((rank, path.count("/"), path))
    return [path for _, _, path in sorted(ranked)[:_MOST_OFFERED]]

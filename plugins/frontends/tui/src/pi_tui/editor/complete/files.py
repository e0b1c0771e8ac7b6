"""Completion of an ``@`` with files or a plugin's mentions, and of a path, one folder at a time, on request."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

from pi_tui.editor.complete.offers import Offer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from pi_hookspecs import Completion
    from pi_terminal_kit.file_names import FileNames

__all__ = ["FileSource", "PathSource"]


class FileSource:
    """Completes the word with an ``@`` before the cursor.

    File names are read in a thread, again for each typed ``@``, so that new files are found.

    Args:
        folder: Returns the folder whose files are offered.
        walk: Yields the files below a folder that git does not know.
        mentions: Returns the mentions that plugins offer for a word.
    """

    def __init__(
        self,
        folder: Callable[[], str],
        walk: Callable[[str], Iterable[str]],
        mentions: Callable[[str], Awaitable[Iterable[Completion]]] | None = None,
    ) -> None:
        self._folder = folder
        self._walk = walk
        self._mentions = mentions
        self._word: tuple[str, str] | None = None
        self._names: FileNames | None = None

    async def offer(self, text: str, cursor: int, *, asked: bool) -> Offer | None:
        """Return files and mentions."""
        from pi_hookspecs import Completion
        from pi_terminal_kit.matching import at_word, mention

        word = at_word(text[:cursor])
        if word is None:
            return None
        mentioned, files = await asyncio.gather(
            self._mentioned(word.typed), self._files(text[: word.start], word.typed)
        )
        items = [
            *(Completion(mention(each.value), description=each.description, label=each.label) for each in mentioned),
            *(Completion(_open_folder(mention(file)), label=file) for file in files),
        ]
        return Offer(word.start, cursor, tuple(items), after=" ") if items else None

    async def _mentioned(self, typed: str) -> Iterable[Completion]:
        return () if self._mentions is None else await self._mentions(typed)

    async def _files(self, before: str, typed: str) -> list[str]:
        """Return the best matches; after cancellation, the searching thread ends soon."""
        from pi_git_kit import files_below
        from pi_terminal_kit.file_names import FileNames
        from pi_terminal_kit.matching import best_matches

        folder = self._folder()
        if self._names is None or self._word != (folder, before) or not typed:
            self._word = (folder, before)
            self._names = FileNames(folder, lambda here: files_below(here, self._walk))
        names, stopped = self._names, threading.Event()
        try:
            return await asyncio.to_thread(lambda: best_matches(names.matching(typed, stopped.is_set), typed))
        finally:
            stopped.set()


def _open_folder(mentioned: str) -> str:
    """Return a folder's mention without its closing quotation mark, so that the user can continue typing."""
    return mentioned[:-1] if mentioned.endswith('/"') else mentioned


class PathSource:
    """Completes the path before the cursor; a path with a space is quoted.

    Args:
        folder: Returns the folder to which relative paths refer.
    """

    def __init__(self, folder: Callable[[], str]) -> None:
        self._folder = folder

    async def offer(self, text: str, cursor: int, *, asked: bool) -> Offer | None:
        """Return the names in the path's folder."""
        from pi_hookspecs import Completion
        from pi_terminal_kit.paths import names_for, path_word

        word = path_word(text[:cursor])
        if not asked or word is None or text[word.start] == "@":
            return None
        names = await asyncio.to_thread(names_for, word, self._folder())
        quote = "" if word.quoted else '"'
        items = []
        for name in filter(str.isprintable, names):
            path = word.folder + name
            if " " in path or word.quoted:
                path = f"{quote}{path}" + '"' * (not path.endswith("/"))
            items.append(Completion(path, label=name))
        return Offer(word.start, cursor, tuple(items)) if items else None

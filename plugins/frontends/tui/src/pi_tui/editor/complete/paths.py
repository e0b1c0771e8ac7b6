"""Completion of paths anywhere in a text, one folder at a time, at the user's request."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pi_tui.editor.complete.offers import Offer

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["PathSource"]


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

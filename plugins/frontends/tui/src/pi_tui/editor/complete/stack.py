"""The sources of completions: the first that offers something is the one; the next key cancels what is looked for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pi_tui.editor.complete.offers import Offer, Source

__all__ = ["Stack"]


class Stack:
    """Sources, asked one after the other.

    Args:
        sources: The first one is asked first.
        report: Called with a source that failed and its error; the next one is asked then.
    """

    def __init__(self, sources: Iterable[Source], report: Callable[[Source, Exception], object]) -> None:
        self._sources = [*sources]
        self._report = report
        self._asking: asyncio.Task[None] | None = None

    def add(self, source: Source) -> Callable[[], None]:
        """Ask another source before the others; returns a function that removes it."""
        self._sources.insert(0, source)

        def remove() -> None:
            if source in self._sources:
                self._sources.remove(source)

        return remove

    def ask(self, text: str, cursor: int, done: Callable[[Offer | None], object], *, asked: bool = False) -> None:
        """Look for what may be typed at the cursor, in place of what was looked for before.

        Args:
            text: The whole text.
            cursor: Where the cursor is in it.
            done: Called with what was found, unless it is cancelled before.
            asked: Whether the user asked for it with a key.
        """
        self.cancel()

        async def ask() -> None:
            done(await self.offer(text, cursor, asked=asked))

        self._asking = asyncio.get_running_loop().create_task(ask())

    def cancel(self) -> None:
        """Look for nothing any more."""
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None

    async def offer(self, text: str, cursor: int, *, asked: bool = False) -> Offer | None:
        """Return what the first source that has anything offers; see ``ask``."""
        for source in [*self._sources]:
            try:
                offer = await source.offer(text, cursor, asked=asked)
            except Exception as error:  # noqa: BLE001 - a plugin's source costs only itself
                self._report(source, error)
                continue
            if offer is not None:
                return offer
        return None

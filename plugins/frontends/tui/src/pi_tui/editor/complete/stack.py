"""The stack of completion sources: the first one with an offer is used; the next key cancels a pending search."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pi_tui.editor.complete.offers import Offer, Source

__all__ = ["Stack"]


class Stack:
    """Completion sources, queried one after the other.

    Args:
        sources: The sources, in the order in which they are queried.
        report: Called with a source that failed and its error; the next source is queried afterwards.
    """

    def __init__(self, sources: Iterable[Source], report: Callable[[Source, Exception], object]) -> None:
        self._sources = [*sources]
        self._report = report
        self._asking: asyncio.Task[None] | None = None

    def add(self, source: Source) -> Callable[[], None]:
        """Add a source in front of the others; return a function that removes it."""
        self._sources.insert(0, source)

        def remove() -> None:
            if source in self._sources:
                self._sources.remove(source)

        return remove

    def ask(self, text: str, cursor: int, done: Callable[[Offer | None], object], *, asked: bool = False) -> None:
        """Search for completions at the cursor, cancelling the previous search.

        Args:
            text: The whole text.
            cursor: Index of the cursor in it.
            done: Called with the offer, unless the search is cancelled before.
            asked: Whether the user requested completions with a key.
        """
        self.cancel()

        async def ask() -> None:
            done(await self.offer(text, cursor, asked=asked))

        self._asking = asyncio.get_running_loop().create_task(ask())

    def cancel(self) -> None:
        """Cancel the current search, if any."""
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None

    async def offer(self, text: str, cursor: int, *, asked: bool = False) -> Offer | None:
        """Return the offer of the first source that has one; see ``ask``."""
        for source in [*self._sources]:
            try:
                offer = await source.offer(text, cursor, asked=asked)
            except Exception as error:  # noqa: BLE001 - a plugin's source costs only itself
                self._report(source, error)
                continue
            if offer is not None:
                return offer
        return None

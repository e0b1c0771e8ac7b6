"""Completion by a plugin's provider: of the word before the cursor, or of the part that an item names."""

from __future__ import annotations

import re
from inspect import isawaitable
from typing import TYPE_CHECKING

from pi_tui.editor.complete.offers import Offer

if TYPE_CHECKING:
    from pi_hookspecs import AutocompleteProvider

__all__ = ["WordSource"]

_WORD = re.compile(r"\S*\Z")


class WordSource:
    """Completes what is before the cursor.

    Args:
        provider: Returns completions for the word.
    """

    def __init__(self, provider: AutocompleteProvider) -> None:
        self._provider = provider

    async def offer(self, text: str, cursor: int, *, asked: bool) -> Offer | None:
        """Return the provider's completions; none if it failed, which is reported elsewhere."""
        from pi_hookspecs import Completion

        found = self._provider(text, cursor)
        values = await found if isawaitable(found) else found
        items = tuple(each if isinstance(each, Completion) else Completion(each) for each in values or ())
        for each in items:
            if not all(isinstance(text, str) for text in (each.value, each.description, each.label or "")):
                raise TypeError(f"a provider offers {each!r:.60}, which is not text")
            if each.replaces is not None and each.replaces[1] > len(text):
                raise ValueError(f"a provider offers to replace {each.replaces!r} of {len(text)} characters")
        word = _WORD.search(text[:cursor])
        start = cursor if word is None else word.start()
        return Offer(start, cursor, items) if items else None

"""Redacts secrets in a text that arrives in pieces, wherever the text is split."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CleanStream"]

_HELD = 200
"""Characters at the end that are held back."""
_MOST = 16 * 1024
"""Characters that are held back where no place to cut is found: a longer word or key is cut anywhere."""
_BREAK = re.compile(r"\s(?=\S*\Z)")
_KEY_BLOCK = re.compile(r"-----BEGIN (?:(?!-----END [^\n-]{0,80}-----).)*\Z", re.DOTALL)
"""A block of a key whose last line is not complete yet."""


class CleanStream:
    """Implements ``TextStream``: splits a text only between words, and never inside a value that is redacted.

    Args:
        clean: Returns a complete text without secrets.
    """

    def __init__(self, clean: Callable[[str], str]) -> None:
        self._clean = clean
        self._held = ""

    def feed(self, piece: str) -> str:
        """Return the text that may be written now."""
        self._held += piece
        cut = self._cut()
        if not cut:
            return ""
        written, self._held = self._held[:cut], self._held[cut:]
        return self._clean(written)

    def end(self) -> str:
        """Return the rest."""
        rest, self._held = self._held, ""
        return self._clean(rest)

    def _cut(self) -> int:
        """Return how many of the characters held back may be written; 0 for none."""
        held = self._held
        if len(held) <= _HELD:
            return 0
        block = _KEY_BLOCK.search(held)
        end = min(len(held) - _HELD, len(held) if block is None else block.start())
        whole = self._clean(held)
        while found := _BREAK.search(held, 0, end):
            end = found.start()
            after = found.end()
            if whole == held or self._clean(held[:after]) + self._clean(held[after:]) == whole:
                return after
        return len(held) if len(held) > _MOST else 0

"""Parsing of a list's search: words in any order, ``"a phrase"``, or ``re:`` with a regular expression."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pi_terminal_kit.matching import matcher

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Query"]

_PARTS = re.compile(r'"([^"]*)"?|(\S+)')

_PATTERN = "re:"

_IN_MORE = 3
"""Rank of a match in the longer text, which is worse than any match in the text itself."""


class Query:
    """A search.

    Args:
        typed: The text that the user typed.

    Attributes:
        is_empty: Whether everything matches.
        problem: Describes an invalid regular expression, with which nothing matches; None if there is no problem.
    """

    def __init__(self, typed: str) -> None:
        self.problem: str | None = None
        self._tests: list[tuple[Callable[[str], int | None], Callable[[str], object]]] = []
        typed = typed.strip()
        if typed.startswith(_PATTERN):
            self._add_pattern(typed.removeprefix(_PATTERN).strip())
        else:
            for found in _PARTS.finditer(typed):
                phrase, word = found.groups()
                if phrase or word:
                    wanted = " ".join((phrase or word).lower().split())
                    self._tests.append((matcher(word) if word else _contains(wanted), _is_in(wanted)))
        self.is_empty = not self._tests and self.problem is None

    def rank(self, text: str, more: str = "") -> int | None:
        """Return how well a text matches, 0 at best; None if it does not.

        Args:
            text: The text; other letters may occur between the letters of a word.
            more: A long text in lower case, in which a word must occur exactly as typed, since separated letters occur
                in any long text.
        """
        if self.problem is not None:
            return None
        total = 0
        for test, is_in in self._tests:
            rank = test(text)
            if rank is None:
                if not is_in(more):
                    return None
                rank = _IN_MORE
            total += rank
        return total

    def _add_pattern(self, pattern: str) -> None:
        try:
            search = re.compile(pattern, re.IGNORECASE).search
        except re.error as error:
            self.problem = f"{pattern!r} is not a regular expression: {error}"
        else:
            if pattern:
                self._tests.append((lambda text: 0 if search(text) else None, search))


def _contains(wanted: str) -> Callable[[str], int | None]:
    return lambda text: 0 if wanted in " ".join(text.lower().split()) else None


def _is_in(wanted: str) -> Callable[[str], bool]:
    return lambda text: wanted in text

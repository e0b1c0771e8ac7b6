"""Which paths match what is typed after an ``@``, and how the chosen one is written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["AtWord", "at_word", "best_matches", "matcher", "mention"]

_AT_WORD = re.compile(r'(?:^|(?<=[\s(\[{<]))@("[^"]*|[^\s"]*)$')

_MOST_OFFERED = 100


class AtWord(NamedTuple):
    """An ``@`` and a part of a path, before the cursor.

    Attributes:
        start: Index of the ``@``.
        typed: What is typed after it, without a quotation mark.
    """

    start: int
    typed: str


def at_word(before: str) -> AtWord | None:
    """Return the word with an ``@`` that a text ends with; None if it ends with none."""
    line = before[before.rfind("\n") + 1 :]
    found = _AT_WORD.search(line)
    if found is None:
        return None
    return AtWord(len(before) - len(found[1]) - 1, found[1].lstrip('"'))


def mention(path: str) -> str:
    """Return how a path is written after an ``@``: in quotation marks where it has a space."""
    return f'@"{path}"' if " " in path else f"@{path}"


def matcher(typed: str) -> Callable[[str], int | None]:
    """Return a function that says how well a path matches what is typed, None if not at all.

    0: the path or its name begins with it; 1: it is in the path; 2: its letters are, in their order.
    """
    wanted = typed.lower()
    # Possessive: with ".*?" a text that lacks the last letter would be tried from each occurrence of all the others.
    letters = re.compile("".join([f"[^{each}]*+{each}" for each in map(re.escape, wanted)]))

    def match(path: str) -> int | None:
        low = path.lower()
        if low.startswith(wanted) or low.startswith(wanted, low.rfind("/", 0, -1) + 1):
            return 0
        if wanted in low:
            return 1
        return 2 if letters.match(low) else None

    return match


def best_matches(paths: Iterable[str], typed: str, most: int = _MOST_OFFERED) -> list[str]:
    """Return the paths that match what is typed, best first, then by depth and name."""
    match = matcher(typed)
    ranked = [(rank, path.count("/"), path) for path in paths if (rank := match(path)) is not None]
    return [path for _, _, path in sorted(ranked)[:most]]

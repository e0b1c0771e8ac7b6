"""Matches paths against the text typed after an ``@``, formats the chosen path, and matches values of an argument."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["AtWord", "at_word", "best_matches", "command_in", "matcher", "matching_values", "mention"]

_AT_WORD = re.compile(r'(?:^|(?<=[\s(\[{<]))@("[^"]*|[^\s"]*)$')

_MOST_OFFERED = 100


class AtWord(NamedTuple):
    """An ``@`` and a part of a path, before the cursor.

    Attributes:
        start: Index of the ``@``.
        typed: The text after it, without a quotation mark.
    """

    start: int
    typed: str


def at_word(before: str) -> AtWord | None:
    """Return the ``@`` word at the end of a text; None if there is none."""
    line = before[before.rfind("\n") + 1 :]
    found = _AT_WORD.search(line)
    if found is None:
        return None
    return AtWord(len(before) - len(found[1]) - 1, found[1].lstrip('"'))


def command_in(before: str) -> str | None:
    """Return the command at the beginning of a text, from its slash on; None if there is none, or more than one line.

    Blanks before it do not count, as when the text is sent.
    """
    command = before.lstrip(" \t")
    return command if command.startswith("/") and "\n" not in command else None


def mention(path: str) -> str:
    """Return a path with an ``@`` in front, in quotation marks if it contains a space."""
    return f'@"{path}"' if " " in path else f"@{path}"


def matcher(typed: str) -> Callable[[str], int | None]:
    """Return a function that rates how well a path matches the typed text; None means no match.

    0: the path or its last component begins with the text. 1: the path contains the text. 2: the path contains the
    letters of the text in order.
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
    """Return the paths that match the typed text, sorted by rating, depth and name."""
    match = matcher(typed)
    ranked = [(rank, path.count("/"), path) for path in paths if (rank := match(path)) is not None]
    return [path for _, _, path in sorted(ranked)[:most]]


def matching_values(values: Iterable[str], typed: str) -> list[str]:
    """Return the values of a command's argument that contain the typed text, those that begin with it first.

    An exact match comes before all others, so that Enter sends it unchanged; if it is the only match, none is returned.
    """
    wanted = typed.lower()
    offered = [each for each in values if wanted in each.lower()]
    if offered == [typed]:
        return []
    return sorted(offered, key=lambda each: (each != typed, not each.lower().startswith(wanted)))

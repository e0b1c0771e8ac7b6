"""Path completion, one directory at a time."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

__all__ = ["PathWord", "names_for", "path_word"]

_LAST_WORD = re.compile(r"[^\s\"'()\[\]{}<>=,;]+$")


class PathWord(NamedTuple):
    """A path that is being typed, before the cursor.

    Attributes:
        start: Index of its first character.
        folder: The part up to and including the last slash.
        begun: The part after the last slash.
        quoted: Whether an open quotation mark precedes the path.
    """

    start: int
    folder: str
    begun: str
    quoted: bool


def path_word(before: str) -> PathWord | None:
    """Return the path at the end of a text: its last word, or the part after an open quotation mark; None if empty."""
    line = before[before.rfind("\n") + 1 :]
    quoted = line.count('"') % 2 == 1
    if quoted:
        word = line[line.rindex('"') + 1 :]
    else:
        found = _LAST_WORD.search(line)
        word = "" if found is None else found[0]
    if not word:
        return None
    folder, slash, begun = word.rpartition("/")
    return PathWord(len(before) - len(word), folder + slash, begun, quoted)


def names_for(word: PathWord, folder: str) -> list[str]:
    """Return the sorted completions of a path; directories end with a slash, hidden names are only offered after a dot.

    Args:
        word: The path to complete.
        folder: The base directory of relative paths; a leading ``~`` is expanded to a home directory.
    """
    place = os.path.join(folder, os.path.expanduser(word.folder))  # noqa: PTH111, PTH118 - ~name keeps its slash
    try:
        with os.scandir(place) as entries:
            return sorted(
                entry.name + "/" * entry.is_dir()
                for entry in entries
                if entry.name.startswith(word.begun) and (word.begun or not entry.name.startswith("."))
            )
    except (OSError, ValueError):
        return []

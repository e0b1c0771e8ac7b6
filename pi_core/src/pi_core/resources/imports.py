"""Imports in instructions: ``@docs/style.md`` in a ``CLAUDE.md`` stands for that file."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["imported_files", "named_imports"]

DEEPEST = 5
"""Levels of files that import others."""
MOST = 100
"""Files that can be imported together."""
LARGEST = 1 << 18
"""Bytes of a file in which imports are looked for."""

_FENCE = re.compile(r"^[ \t]*(`{3,9}|~{3,9}).*?^[ \t]*\1[`~]*[ \t]*$|^[ \t]*(?:```|~~~).*\Z", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(`{1,9})(?!`)[^\n]{1,1000}?(?<!`)\1(?!`)")
_IMPORT = re.compile(r"(?:^|(?<=\s))@((?:[^\s\\@]|\\ )+)", re.MULTILINE)


def imported_files(path: str, may_read: Callable[[str], bool], seen: set[str] | None = None) -> Iterator[str]:
    """Yield the files that a file imports, each once, a file before those that it imports.

    Args:
        path: The importing file.
        may_read: Called with each existing file that is named; returns whether it is used.
        seen: Paths of files that are not yielded again, with links resolved; those that are found are added.
    """
    seen = set() if seen is None else seen
    seen.add(os.path.realpath(path))
    yield from _imported(path, may_read, seen, 1)


def _imported(path: str, may_read: Callable[[str], bool], seen: set[str], depth: int) -> Iterator[str]:
    for name in named_imports(_text(path)):
        found = os.path.normpath(os.path.join(os.path.dirname(path), os.path.expanduser(name)))
        real = os.path.realpath(found)
        if real in seen or len(seen) > MOST or not os.path.isfile(found):
            continue
        seen.add(real)
        if not may_read(found):
            continue
        yield found
        if depth < DEEPEST:
            yield from _imported(found, may_read, seen, depth + 1)


def named_imports(text: str) -> Iterator[str]:
    """Yield the paths that are written after ``@`` at the beginning of a word, outside code and comments."""
    if "@" not in text:
        return
    prose = _CODE.sub(" ", _FENCE.sub("", _without_comments(text)))
    for found in _IMPORT.finditer(prose):
        name = found[1].replace("\\ ", " ").partition("#")[0].rstrip(".,;:!?)\"'")
        if name and "\0" not in name:
            yield name


def _without_comments(text: str) -> str:
    parts = []
    while True:
        before, comment, rest = text.partition("<!--")
        parts.append(before)
        _, end, text = rest.partition("-->")
        if not comment or not end:
            return " ".join(parts)


def _text(path: str) -> str:
    try:
        if os.path.getsize(path) > LARGEST:
            return ""
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            return file.read()
    except OSError:
        return ""

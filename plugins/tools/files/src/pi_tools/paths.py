"""Resolves paths of the model: the working directory, ``~``, ``@``, ``file://``, Unicode spaces."""

from __future__ import annotations

import os
import re
import unicodedata
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from pi_tools.failure import ToolFailure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["resolve", "resolve_existing", "variants"]

_SPACES = "[\u00a0\u2000-\u200a\u202f\u205f\u3000]"
_BEFORE_AM_PM = r"(?i: (AM|PM)\.)"


def resolve(path: str, cwd: str) -> str:
    """Return the absolute path.

    Raises:
        ToolFailure: It is not a valid path.
    """
    return _absolute(re.sub(_SPACES, " ", path.removeprefix("@")), path, cwd)


def _absolute(path: str, given: str, cwd: str) -> str:
    if "\0" in path:
        raise ToolFailure(f"Invalid path {given!r}: it contains a NUL character. Use the path of a file.")
    if path.startswith("file://"):
        path = unquote(urlsplit(path).path, errors="surrogateescape")
    if path == "~" or path.startswith(("~/", "~\\")):
        path = os.path.expanduser("~") + path[1:]
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise ToolFailure(f"Invalid path {given!r}: it is not text. Use the path of a file.") from None
    return os.path.normpath(os.path.join(cwd, path))


def variants(path: str) -> Iterator[str]:
    """Yield other names that look the same on screen: how macOS writes times, accents and apostrophes."""
    decomposed = unicodedata.normalize("NFD", path)
    yield re.sub(_BEFORE_AM_PM, "\u202f\\1.", path)
    yield decomposed
    yield path.replace("'", "\u2019")
    yield decomposed.replace("'", "\u2019")


def resolve_existing(path: str, cwd: str, exists: Callable[[str], bool]) -> str:
    """Return the first of the path, its variants and its literal form that exists; else the path itself."""
    wanted = resolve(path, cwd)
    if exists(wanted):
        return wanted
    for candidate in (*variants(wanted), _absolute(path, path, cwd)):
        if candidate != wanted and exists(candidate):
            return candidate
    return wanted

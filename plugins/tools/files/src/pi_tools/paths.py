"""Which file a path of the model means: the working directory, ``~``, ``@``, ``file://``, and names that look the same.

A model sees names as text, in which several look the same: U+202F and U+3000 as a blank, "é" as one character or two, a
curly apostrophe as a straight one. So a name that does not exist as it was given means the one that looks like it.
"""

from __future__ import annotations

import os
import re
import unicodedata
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from pi_tools.failure import ToolFailure
from pi_tools.threads import finish

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

__all__ = ["locate", "locate_here", "resolve"]

_SPACES = "[\u00a0\u2000-\u200a\u202f\u205f\u3000]"
_APOSTROPHES = "[\u2018\u2019\u02bc]"


def resolve(path: str, cwd: str) -> str:
    """Return the absolute path, with plain blanks for all others: the name of a file that is yet to be made.

    Raises:
        ToolFailure: It is not a valid path.
    """
    return _absolute(re.sub(_SPACES, " ", path.removeprefix("@")), path, cwd)


async def locate(path: str, cwd: str, probe: Callable[[str], Awaitable[object]] | None = None) -> str:
    """Return the absolute path of the file or directory that a path means, whether it exists or not.

    Args:
        path: As the model gave it.
        cwd: The working directory.
        probe: Fails with ``OSError``, or returns False, for a path that does not exist elsewhere; None for files of
            this machine.

    Raises:
        ToolFailure: It is not a valid path, or several names look like it.
    """
    literal, plain = _absolute(path.removeprefix("@"), path, cwd), resolve(path, cwd)
    if probe is None:
        return await finish(locate_here, path, cwd) if _has_look_alikes(path) else literal
    if literal != plain:
        try:
            if await probe(literal) is not False:
                return literal
        except OSError:
            pass
    return plain


def locate_here(path: str, cwd: str) -> str:
    """Return the same for files of this machine; blocks.

    Folders are found by their look too, also those in which a new file is to be made.
    """
    literal = _absolute(path.removeprefix("@"), path, cwd)
    if os.path.lexists(literal):
        return literal
    if path.startswith("@"):
        first = path.partition("/")[0]
        if os.path.lexists(os.path.join(cwd, first)) and not os.path.lexists(os.path.join(cwd, first[1:])):
            literal = _absolute(path, path, cwd)  # the folder of a scoped package, as @types
    root, *names = literal.split(os.sep)
    found = root + os.sep
    for index, name in enumerate(names):
        step = _look_alike(found, name)
        if step is None:
            return os.path.join(found, *(re.sub(_SPACES, " ", rest) for rest in names[index:]))
        found = os.path.join(found, step)
    return found


def _look_alike(folder: str, name: str) -> str | None:
    """Return the entry of a folder with that name, else the one that looks like it."""
    if os.path.lexists(os.path.join(folder, name)):
        return name
    if not _has_look_alikes(name):
        return None
    look = _look(name)
    try:
        same = [entry for entry in os.listdir(folder) if _look(entry) == look]
    except OSError:
        return None
    if len(same) > 1:
        shown = ", ".join(sorted(map(ascii, same)))
        raise ToolFailure(
            f"There is no {name!a} in '{folder}', but several names look like it: {shown}. "
            "Rename all but one with bash, or use bash for this file."
        )
    return same[0] if same else None


def _has_look_alikes(name: str) -> bool:
    return not name.isascii() or " " in name or "'" in name or name.startswith("@")


def _look(name: str) -> str:
    if name.isascii():
        return name
    return unicodedata.normalize("NFC", re.sub(_APOSTROPHES, "'", re.sub(_SPACES, " ", name)))


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

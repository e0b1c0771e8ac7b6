"""A directory tree in the order of its names, without what ignore files exclude, matched against a pattern."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from pi_tools.failure import ToolFailure
from pi_tools.searching.globs import composed, parse
from pi_tools.searching.ignore import FILES, level_above

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pi_git_kit import Prepare
    from pi_tools.searching.globs import Pattern
    from pi_tools.searching.ignore import Level

__all__ = ["find"]

_Item = tuple[str, bool, bool]
"""Name, whether it is a folder, whether it matches."""


def find(  # noqa: C901 - one walk
    pattern: str, root: str, limit: int, stopped: Callable[[], bool], prepare: Prepare | None = None
) -> list[str]:
    """Return at most ``limit`` paths that match, relative to the root, folders with a final ``/``.

    The order is that of the names, a folder before what is in it: it depends on the tree alone, and
    the walk ends as soon as there are enough.

    Args:
        pattern: See ``globs.parse``; without capitals it ignores case.
        root: Absolute path of a directory.
        limit: Maximum number of paths.
        stopped: Called at every folder; True ends the walk.
        prepare: Changes how git is started, which is asked for the user's ignore file.

    Raises:
        ToolFailure: The pattern is malformed or leads out of the root, or ``stopped`` returned True.
    """
    parsed = parse(pattern, root, smart_case=True)
    picks = _picker(parsed)
    base = root if root.endswith(os.sep) else root + os.sep
    found: list[str] = []
    stack: list[tuple[str, Level, Iterator[_Item]]] = []
    level = level_above(os.path.realpath(base), prepare)
    real = os.path.realpath(base).rstrip(os.sep) + os.sep

    def enter(folder: str, level: Level) -> None:
        if stopped():
            raise ToolFailure("Operation aborted")
        names, folders = _entries(base + folder)
        own = FILES.intersection(names)
        if own:
            level = level.below(real + folder, own)
        ignored = level.ignored(real + folder, names, folders)
        if ".git" in own:
            ignored.add(".git")
        if ignored:
            names = [name for name in names if name not in ignored]
            folders -= ignored
        matched = picks(folder, names)
        if parsed.folders_only:
            matched = folders.intersection(matched)
        if not folders:
            found.extend([folder + name for name in sorted(matched)])
            return
        matched = set(matched)
        every = sorted(folders | matched)
        stack.append((folder, level, iter([(name, name in folders, name in matched) for name in every])))

    enter("", level)
    while stack and len(found) < limit:
        folder, level, items = stack[-1]
        item = next(items, None)
        if item is None:
            stack.pop()
            continue
        name, is_folder, matches = item
        if matches:
            found.append(f"{folder}{name}/" if is_folder else folder + name)
        if is_folder and len(found) < limit:
            enter(f"{folder}{name}{os.sep}", level)
    return [path.replace(os.sep, "/") for path in found[:limit]] if os.sep != "/" else found[:limit]


def _entries(path: str) -> tuple[list[str], set[str]]:
    """Return the names in a folder, and which are folders (no links); nothing where it cannot be read."""
    names: list[str] = []
    folders: set[str] = set()
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                names.append(entry.name)
                if entry.is_dir(follow_symlinks=False):
                    folders.add(entry.name)
    except OSError:
        pass
    return names, folders


def _picker(pattern: Pattern) -> Callable[[str, list[str]], Iterable[str]]:
    """Return a function that filters the matching names of a folder, which is given below the root."""
    matches, text = pattern.regex.fullmatch, pattern.text
    smart = bool(pattern.regex.flags & re.IGNORECASE)
    if not pattern.anchored:
        pick = _by_end(text, smart=smart) or (lambda names: [name for name in names if matches(composed(name))])
        return lambda _, names: pick(names)
    pick = (_by_end(text.rpartition("/")[2], smart=smart) if "{" not in text else None) or (lambda names: names)
    return lambda folder, names: [name for name in pick(names) if matches(composed(folder.replace(os.sep, "/") + name))]


def _by_end(pattern: str, *, smart: bool) -> Callable[[list[str]], list[str]] | None:
    """Return a filter by suffix, for ``*`` and plain text."""
    end = pattern[1:]
    if not pattern.startswith("*") or not end.isascii() or any(char in end for char in "*?[]{}\\"):
        return None
    if not end:
        return lambda names: names
    if not smart:
        return lambda names: [name for name in names if name.endswith(end)]
    return lambda names: [name for name in names if name.lower().endswith(end)]

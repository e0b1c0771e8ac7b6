"""What the setting ``skills`` (``prompts``, ``themes``) says: paths and globs that add, ``!``, ``+``, ``-`` that pick.

``!pattern`` leaves out what it matches, ``+path`` keeps a file all the same, ``-path`` leaves it out whatever else is
said (pi.md 11, resource filters). Each settings file speaks of its own scope.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Filter"]

_GLOB = frozenset("*?[")


@frozen
class Filter:
    """The entries of one scope; paths are relative to ``base_dir``.

    Attributes:
        paths: Files, folders and globs to look in.
        excluded: Globs of what is left out.
        forced: Paths that are kept all the same.
        banned: Paths that are left out in any case.
    """

    base_dir: str
    paths: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    forced: tuple[str, ...] = ()
    banned: tuple[str, ...] = ()

    @classmethod
    def parse(cls, entries: Iterable[str], base_dir: str) -> Filter:
        """Sort entries by their sign."""
        signs: dict[str, list[str]] = {"": [], "!": [], "+": [], "-": []}
        for entry in entries:
            sign = entry[:1] if entry[:1] in ("!", "+", "-") else ""
            rest = entry[len(sign) :].strip()
            if rest:
                signs[sign].append(rest)
        return cls(base_dir, *map(tuple, signs.values()))

    def named(self) -> list[str]:
        """Return the paths that are added, globs replaced by what they match."""
        found = []
        for entry in self.paths:
            path = absolute(entry, self.base_dir)
            if _GLOB.isdisjoint(entry):
                found.append(path)
            else:
                from glob import glob

                found += sorted(glob(path, recursive=True))
        return found

    def keeps(self, path: str) -> bool:
        """Whether a file stays."""
        if not (self.excluded or self.banned):
            return True
        names = self._names(path)
        if _any(self.banned, names, self.base_dir):
            return False
        if _any(self.forced, names, self.base_dir):
            return True
        return not self._is_excluded(names)

    def _is_excluded(self, names: Sequence[str]) -> bool:
        from fnmatch import fnmatchcase

        return any(fnmatchcase(name, pattern.rstrip("/")) for pattern in self.excluded for name in names)

    def _names(self, path: str) -> list[str]:
        """Return what a file may be called in a pattern; a skill goes by its folder, too."""
        paths = [path] if os.path.basename(path) != "SKILL.md" else [path, os.path.dirname(path)]
        return [name for each in paths for name in (each, os.path.relpath(each, self.base_dir), os.path.basename(each))]


def _any(entries: Iterable[str], names: Sequence[str], base_dir: str) -> bool:
    return any(absolute(entry, base_dir) in names or os.path.normpath(entry) in names for entry in entries)


def absolute(path: str, base_dir: str) -> str:
    """Return a path as the user wrote it, ``~`` or relative to a folder, as an absolute one."""
    return os.path.normpath(os.path.join(base_dir, os.path.expanduser(path)))

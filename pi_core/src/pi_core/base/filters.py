"""The syntax of settings such as ``skills`` and ``extensions``: paths and globs to search, and filters.

``!pattern`` excludes matching files, ``+path`` includes a file nevertheless, and ``-path`` always excludes it.
The entries of a settings file apply to the scope of that file.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pi_core.base.paths import absolute
from pi_hookspecs.deferred import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Filter"]

_GLOB = frozenset("*?[")


@frozen(eq=False, repr=False)
class Filter:
    """The entries of one scope; paths are relative to ``base_dir``.

    Attributes:
        paths: Files, folders and globs to search.
        excluded: Globs that exclude files (``!``).
        forced: Paths that are included even if ``excluded`` matches them (``+``).
        banned: Paths that are always excluded (``-``).
    """

    base_dir: str
    home: str
    paths: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    forced: tuple[str, ...] = ()
    banned: tuple[str, ...] = ()

    @classmethod
    def parse(cls, entries: Iterable[str], base_dir: str, home: str) -> Filter:
        """Parse entries by their prefix; ``~`` stands for ``home``."""
        signs: dict[str, list[str]] = {"": [], "!": [], "+": [], "-": []}
        for entry in entries:
            sign = entry[:1] if entry[:1] in ("!", "+", "-") else ""
            rest = entry[len(sign) :].strip()
            if rest:
                signs[sign].append(rest)
        return cls(base_dir, home, *map(tuple, signs.values()))

    def added_paths(self) -> list[str]:
        """Return the paths to search, with globs expanded."""
        found = []
        for entry in self.paths:
            path = absolute(entry, self.base_dir, self.home)
            if _GLOB.isdisjoint(entry):
                found.append(path)
            else:
                from glob import glob

                found += sorted(glob(path, recursive=True))
        return found

    def includes(self, path: str) -> bool:
        """Whether a file is included."""
        if not (self.excluded or self.banned):
            return True
        names = self._names(path)
        if self._has(self.banned, names):
            return False
        if self._has(self.forced, names):
            return True
        return not self._is_excluded(names)

    def _is_excluded(self, names: Sequence[str]) -> bool:
        from fnmatch import fnmatchcase

        patterns = [self._pattern(entry).rstrip("/") for entry in self.excluded]
        return any(fnmatchcase(name, pattern) for pattern in patterns for name in names)

    def _pattern(self, entry: str) -> str:
        """Return a glob as file names are compared with it: that of a home directory, and ``./``, are resolved."""
        if entry == "~" or entry.startswith("~/"):
            return self.home + entry[1:]
        return os.path.normpath(entry) if entry.startswith(("./", "../")) else entry

    def _has(self, entries: Iterable[str], names: Sequence[str]) -> bool:
        return any(
            absolute(entry, self.base_dir, self.home) in names or os.path.normpath(entry) in names for entry in entries
        )

    def _names(self, path: str) -> list[str]:
        """Return the names of a file that a pattern may match; a skill is also matched by its folder."""
        paths = [path] if os.path.basename(path) != "SKILL.md" else [path, os.path.dirname(path)]
        return [name for each in paths for name in (each, os.path.relpath(each, self.base_dir), os.path.basename(each))]

"""Stores the hooks, tools and commands of plugins that are programs, so that pi need not start them to know."""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pi_core.base.paths import make_cache
from pi_core.base.replacing import replace_file
from pi_core.host.gates import guarded_hooks, hooks_named_in
from pi_hookspecs.specs import all_hookspecs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

__all__ = ["ProgramIndex", "files_of_program"]

_FORMAT = 1
_SKIPPED = frozenset({".git", ".venv", "node_modules", "__pycache__", "target"})
_MOST_FILES = 1000
_NOT_FOR_PROGRAMS = ("session_before_append",)
"""Hooks that are called where nothing can be awaited."""
_IN_GENERATION = rf"{re.escape(os.sep)}gen{re.escape(os.sep)}[0-9a-f]+{re.escape(os.sep)}"
"""The part of a path that differs after each change of the installed packages."""


class ProgramIndex:
    """One plugin's entry, a file in the agent directory's ``cache``; a stale entry is kept for its guards.

    Args:
        agent_dir: The agent directory.
        folder: The plugin's folder.
        entry: The plugin's file, if it is not all of the folder: then the contents of it and of those that it reported
            to have loaded are looked at.
    """

    def __init__(self, agent_dir: Path, folder: Path, entry: Path | None = None) -> None:
        from binascii import crc32

        self._folder = folder.absolute()
        self._entry = entry.absolute() if entry is not None else None
        # One entry for all generations of a package: the guards of the previous generation must not be forgotten.
        self._key = re.sub(_IN_GENERATION, os.sep, os.fspath(self._entry or self._folder))
        self._file = agent_dir / "cache" / "programs" / f"{crc32(os.fsencode(self._key)):08x}.json"

    def read(self) -> dict[str, Any]:
        """Return ``hooks``, an object by name, and ``registers``, as the program reported; empty if it never did."""
        stored = self._stored()
        return stored["ready"] if stored is not None else {}

    def is_fresh(self) -> bool:
        """Whether no file of the plugin has changed since the entry was written."""
        stored = self._stored()
        return stored is not None and stored["marks"] == self._marks(stored["ready"].get("files", ()))

    def write(self, ready: Mapping[str, Any]) -> None:
        """Store what the program reported about itself; an unwritable folder is not an error."""
        content = {
            "format": _FORMAT,
            "folder": self._key,
            "marks": self._marks(ready.get("files", ())),
            "ready": dict(ready),
        }
        with suppress(OSError):
            make_cache(self._file.parent.parent)
            self._file.parent.mkdir(exist_ok=True)
            replace_file(self._file, json.dumps(content).encode(), durable=False)

    def guards(self, grants: Mapping[str, Any] | None = None) -> list[str]:
        """Return the hooks whose failure refuses that the plugin implements, or may implement.

        That is what it has reported, or what its grants name; of a file that was never loaded, what its text names; and
        of a program of which nothing is known, all that a program can implement.
        """
        stated = grants.get("hooks", False) if grants is not None else True
        named: Iterable[str] = stated if isinstance(stated, list) else ()
        known = self.read().get("hooks")
        if known is not None or stated is not True:
            return guarded_hooks(dict.fromkeys([*(known or ()), *named]))
        if self._entry is not None:
            return hooks_named_in([self._entry])
        return [hook for hook in guarded_hooks(all_hookspecs()) if hook not in _NOT_FOR_PROGRAMS]

    def _stored(self) -> dict[str, Any] | None:
        try:
            stored = json.loads(self._file.read_text(encoding="utf-8"))
            fits = (stored["format"], stored["folder"]) == (_FORMAT, self._key)
            shapes = isinstance(stored["ready"]["hooks"], dict) and isinstance(stored["ready"]["registers"], dict)
            return stored if fits and shapes and isinstance(stored["marks"], list) else None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):  # missing, truncated or overwritten
            return None

    def _marks(self, loaded: Iterable[str]) -> list[list[str | int]]:
        if self._entry is not None:
            files = sorted({os.fspath(self._entry), *loaded})
            return [[each, _digest(each)] for each in files]
        return [[str(each.relative_to(self._folder)), *_time_and_size(each)] for each in files_of_program(self._folder)]


def files_of_program(folder: Path) -> list[Path]:
    """Return the files of a plugin, without its installed dependencies; at most a thousand."""
    found: list[Path] = []
    folders = [folder]
    while folders and len(found) < _MOST_FILES:
        try:
            entries = sorted(folders.pop().iterdir())
        except OSError:
            continue
        for each in entries:
            if each.name in _SKIPPED or each.is_symlink():
                continue
            (folders if each.is_dir() else found).append(each)
    return found[:_MOST_FILES]


def _digest(file: str) -> str:
    """Return what tells one content from another; hashlib takes a millisecond to import, at each start."""
    from binascii import crc32

    try:
        with open(file, "rb") as opened:  # noqa: PTH123 - a text
            content = opened.read()
    except OSError:
        return ""
    return f"{len(content)}-{crc32(content):08x}"


def _time_and_size(file: Path) -> tuple[int, int]:
    try:
        found = file.stat()
    except OSError:
        return -1, -1
    return found.st_mtime_ns, found.st_size

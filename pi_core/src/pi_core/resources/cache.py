"""A cache on disk of parsed resource files of one kind: a start reads only files that have changed."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pi_hookspecs

if TYPE_CHECKING:
    from pathlib import Path

    from pi_hookspecs import ResourceContent

__all__ = ["ContentCache"]

FORMAT = 1
MAX_FILES = 5_000
"""Maximum number of files of one kind in the cache; the most recently read files are kept."""


class ContentCache:
    """Contents by path, each valid for one modification time, size and inode. The file is opened on first access.

    Args:
        file: The cache file; None disables the cache.
        mark: Version of the plugin that reads the files; a different version invalidates the cache.
    """

    def __init__(self, file: Path | None, mark: str = "") -> None:
        self._file = file
        self._mark = mark
        self._cached: dict[str, list[Any]] | None = None
        self._changed = False

    def get(self, path: str, status: tuple[int, ...]) -> ResourceContent | None:
        """Return the content of a file with this status; None if it is not cached."""
        entry = self._entries().get(path)
        if entry is None or entry[0] != list(status):
            return None
        try:
            return _from_entry(path, entry)
        except (TypeError, ValueError):  # not written by pi
            return None

    def put(self, path: str, status: tuple[int, ...], content: ResourceContent) -> None:
        """Cache the content of a file."""
        if self._file is not None:
            entries = self._entries()
            entries.pop(path, None)
            entries[path] = _to_entry(status, content)
            self._changed = True

    def save(self) -> None:
        """Write the cache file if there are new contents; if that fails, the next start reads the files again."""
        if self._file is None or self._cached is None or not self._changed:
            return
        import orjson

        from pi_core.base.replacing import replace_file

        self._changed = False
        newest = dict(list(self._cached.items())[-MAX_FILES:])
        with suppress(OSError, TypeError):  # TypeError: a plugin's data cannot be written as JSON
            # Private, because the agent directory also contains keys.
            self._file.parent.parent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            content = orjson.dumps({"format": FORMAT, "mark": self._mark, "files": newest})
            replace_file(self._file, content, durable=False)

    def _entries(self) -> dict[str, list[Any]]:
        if self._cached is None:
            self._cached = self._read_cache() if self._file is not None else {}
        return self._cached

    def _read_cache(self) -> dict[str, list[Any]]:
        import orjson

        assert self._file is not None  # noqa: S101 - checked by the caller
        try:
            stored = orjson.loads(self._file.read_bytes())
            files = stored["files"]
            if (stored["format"], stored["mark"]) == (FORMAT, self._mark) and isinstance(files, dict):
                return files
        except (OSError, ValueError, KeyError, TypeError):  # missing, truncated, or not a cache
            pass
        return {}


def _to_entry(status: tuple[int, ...], content: ResourceContent) -> list[Any]:
    problems = [[each.message, each.line, each.level, each.path] for each in content.problems]
    return [list(status), content.name, content.description, dict(content.data), problems]


def _from_entry(path: str, entry: list[Any]) -> ResourceContent:
    _, name, description, data, problems = entry
    if not (isinstance(name, str | None) and isinstance(description, str) and isinstance(data, dict)):
        raise TypeError(f"not a cache entry of {path}")
    return pi_hookspecs.ResourceContent(
        name=name,
        description=description,
        data=data,
        problems=[
            pi_hookspecs.ResourceProblem(path=where or path, message=message, line=line, level=level)
            for message, line, level, where in problems
        ],
    )

"""What files of one kind said at earlier starts, kept on disk: a start reads only what changed since."""

from __future__ import annotations

import os
from contextlib import suppress
from threading import get_ident
from typing import TYPE_CHECKING, Any

from pi_hookspecs.resources import ResourceContent, ResourceProblem

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["KeptContents"]

FORMAT = 1
MOST_FILES = 5_000
"""Files of one kind that are remembered; those read last stay."""


class KeptContents:
    """Contents by path and by the file's time, size and number. It opens nothing before somebody asks.

    Args:
        file: Where they are kept; nowhere when None.
        mark: What the contents depend on beside the files: the plugin that read them.
    """

    def __init__(self, file: Path | None, mark: str = "") -> None:
        self._file = file
        self._mark = mark
        self._known: dict[str, list[Any]] | None = None
        self._changed = False

    def get(self, path: str, times: tuple[int, ...]) -> ResourceContent | None:
        """Return what a file said when it had these times; None where that is not known."""
        plain = self._entries().get(path)
        if plain is None or plain[0] != list(times):
            return None
        try:
            return _from_plain(path, plain)
        except (TypeError, ValueError):  # somebody else wrote there
            return None

    def put(self, path: str, times: tuple[int, ...], content: ResourceContent) -> None:
        """Remember what a file says."""
        if self._file is not None:
            entries = self._entries()
            entries.pop(path, None)
            entries[path] = _to_plain(times, content)
            self._changed = True

    def save(self) -> None:
        """Write down what was read since the last time; where that cannot be, the next start reads again."""
        if self._file is None or self._known is None or not self._changed:
            return
        import orjson

        self._changed = False
        kept = dict(list(self._known.items())[-MOST_FILES:])
        draft = self._file.with_name(f"{self._file.name}.{os.getpid()}-{get_ident()}")
        try:
            self._file.parent.parent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # keys are kept there, too
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            draft.write_bytes(orjson.dumps({"format": FORMAT, "mark": self._mark, "files": kept}))
            draft.replace(self._file)
        except (OSError, TypeError):  # TypeError: a plugin's data is none that JSON has
            with suppress(OSError):
                draft.unlink()

    def _entries(self) -> dict[str, list[Any]]:
        if self._known is None:
            self._known = self._stored() if self._file is not None else {}
        return self._known

    def _stored(self) -> dict[str, list[Any]]:
        import orjson

        assert self._file is not None  # noqa: S101 - the caller looked
        try:
            stored = orjson.loads(self._file.read_bytes())
            files = stored["files"]
            if (stored["format"], stored["mark"]) == (FORMAT, self._mark) and isinstance(files, dict):
                return files
        except (OSError, ValueError, KeyError, TypeError):  # missing, cut off, or something else
            pass
        return {}


def _to_plain(times: tuple[int, ...], content: ResourceContent) -> list[Any]:
    problems = [[each.message, each.line, each.level, each.path] for each in content.problems]
    return [list(times), content.name, content.description, dict(content.data), problems]


def _from_plain(path: str, plain: list[Any]) -> ResourceContent:
    _, name, description, data, problems = plain
    if not (isinstance(name, str | None) and isinstance(description, str) and isinstance(data, dict)):
        raise TypeError(f"not what was kept of {path}")
    return ResourceContent(
        name=name,
        description=description,
        data=data,
        problems=[
            ResourceProblem(path=where or path, message=message, line=line, level=level)
            for message, line, level, where in problems
        ],
    )

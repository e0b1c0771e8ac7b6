"""Local extensions that end the process which loads them: which they are, until their files change.

No index knows local extensions, so a file in the cache does; it is there only where there is such an extension.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from pi_core.base.paths import make_cache

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["LeftOut"]


class LeftOut:
    """The extensions that one agent directory's cache says to leave out.

    Args:
        cache: The folder of the file.
    """

    def __init__(self, cache: Path) -> None:
        self._file = cache / "left-out-extensions.json"

    def why(self, path: Path, time: int) -> str | None:
        """Return how loading an extension ends the process; None where it is not left out.

        Args:
            path: The extension's file.
            time: The latest time of its files, in nanoseconds: another one makes it count again.
        """
        entry = self._read().get(str(path))
        return entry[1] if entry is not None and entry[0] == time else None

    def add(self, path: Path, time: int, how: str) -> None:
        """Leave an extension out from now on; where that cannot be written, it is tried again at the next start."""
        import orjson

        entries = {each: entry for each, entry in self._read().items() if os.path.exists(each)}  # noqa: PTH110
        draft = self._file.with_name(f"{self._file.name}.{os.getpid()}")
        with suppress(OSError):
            make_cache(self._file.parent)
            draft.write_bytes(orjson.dumps({**entries, str(path): (time, how)}))
            draft.replace(self._file)

    def _read(self) -> dict[str, tuple[int, str]]:
        try:
            text = self._file.read_bytes()
        except OSError:
            return {}
        import orjson

        with suppress(ValueError, TypeError, AttributeError):  # it is no such file
            return {path: (int(time), str(how)) for path, (time, how) in orjson.loads(text).items()}
        return {}

"""Records local extensions whose loading ends the process, so that they are left out until their files change.

The index does not contain local extensions, so a separate file in the cache does; it exists only if there is such an
extension.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from pi_core.base.paths import make_cache
from pi_core.base.replacing import replace_file

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["LeftOut"]


class LeftOut:
    """The extensions to leave out, according to the cache of one agent directory.

    Args:
        cache: The folder of the file.
    """

    def __init__(self, cache: Path) -> None:
        self._file = cache / "left-out-extensions.json"

    def why(self, path: Path, time: int) -> str | None:
        """Return how loading an extension ends the process; None if the extension is not left out.

        Args:
            path: The extension's file.
            time: The latest modification time of its files, in nanoseconds. If it differs from the stored time, the
                extension is loaded again.
        """
        entry = self._read().get(str(path))
        return entry[1] if entry is not None and entry[0] == time else None

    def add(self, path: Path, time: int, how: str) -> None:
        """Leave an extension out from now on; if this cannot be written, the next start tries to load it again."""
        import orjson

        entries = {each: entry for each, entry in self._read().items() if os.path.exists(each)}  # noqa: PTH110
        with suppress(OSError):
            make_cache(self._file.parent)
            replace_file(self._file, orjson.dumps({**entries, str(path): (time, how)}), durable=False)

    def _read(self) -> dict[str, tuple[int, str]]:
        try:
            text = self._file.read_bytes()
        except OSError:
            return {}
        import orjson

        with suppress(ValueError, TypeError, AttributeError):  # the file has other content
            return {path: (int(time), str(how)) for path, (time, how) in orjson.loads(text).items()}
        return {}

"""``isolated.log`` in the agent directory: what programs write to standard error, 5 MB and one older part."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import TextIOWrapper
    from logging.handlers import RotatingFileHandler
    from pathlib import Path

__all__ = ["ErrorLog"]

_SIZE = 5 << 20


class ErrorLog:
    """The lines of one plugin; the file is opened for the first one.

    Args:
        agent_dir: The agent directory.
        plugin: The plugin's name.
    """

    def __init__(self, agent_dir: Path, plugin: str) -> None:
        self._file = agent_dir / "isolated.log"
        self._plugin = plugin
        self._handler: RotatingFileHandler | None = None

    def write(self, text: str, clean: Callable[[str], str]) -> None:
        """Write lines without secrets; a file that cannot be written is not an error."""
        import logging

        with suppress(Exception):  # of a plugin that takes secrets out: then the line is not written
            if self._handler is None:
                self._handler = _open_log(self._file)
            for line in clean(text).split("\n"):
                self._handler.emit(logging.LogRecord(self._plugin, logging.INFO, "", 0, line, None, None))

    def close(self) -> None:
        """Close the file."""
        if self._handler is not None:
            self._handler.close()
            self._handler = None


def _open_log(file: Path) -> RotatingFileHandler:
    """Return a log file that only its user can read."""
    import logging
    from logging.handlers import RotatingFileHandler

    class PrivateFile(RotatingFileHandler):
        def _open(self) -> TextIOWrapper:
            return cast(
                "TextIOWrapper",
                open(
                    self.baseFilename,
                    self.mode,
                    encoding="utf-8",
                    errors="replace",
                    opener=partial(os.open, mode=0o600),
                ),
            )

    handler = PrivateFile(file, maxBytes=_SIZE, backupCount=1)
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s: %(message)s"))
    return handler

"""The prompt history: a line is stored in ``prompt-history.jsonl`` before it is sent; the newest thousand are kept."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

__all__ = ["PromptFile"]

_KEPT = 1000


class PromptFile:
    """The history file, with one JSON string per line. If the file cannot be used, there is no stored history.

    Args:
        file: The path of the file. Several processes may append to it.
        warn: Called once if a line cannot be stored.
        clean: Returns a text without secrets, or None if the text must not be stored.
    """

    def __init__(self, file: Path, warn: Callable[[str], object], clean: Callable[[str], str | None] = str) -> None:
        self._file = file
        self._clean = clean
        self._warn: Callable[[str], object] | None = warn

    def read(self) -> list[str]:
        """Return the stored lines, oldest first; truncate a file that has grown to twice the limit."""
        try:
            lines = self._file.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return []
        if len(lines) > 2 * _KEPT:
            self._rewrite(lines[-_KEPT:])
        return [text for line in lines[-_KEPT:] if (text := _string(line)) is not None]

    def append(self, text: str) -> None:
        """Store a line without its secrets."""
        cleaned = self._clean(text)
        if cleaned is None:
            return
        line = json.dumps(cleaned).encode("ascii") + b"\n"
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(descriptor, line)
            finally:
                os.close(descriptor)
        except OSError as error:
            if self._warn is not None:
                self._warn(f"The prompt history cannot be stored in {str(self._file)!r}: {error.strerror}.")
                self._warn = None

    def _rewrite(self, lines: Sequence[str]) -> None:
        fresh = self._file.with_name(f"{self._file.name}.{os.getpid()}")
        try:
            fresh.touch(mode=0o600)
            fresh.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            fresh.replace(self._file)
        except OSError:
            fresh.unlink(missing_ok=True)


def _string(line: str) -> str | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, str) else None

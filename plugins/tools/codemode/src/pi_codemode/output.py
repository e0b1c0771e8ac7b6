"""What a script printed and returned, for the model: the end of it if it is long, and all of it in a file."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["MAX_BYTES", "MAX_LINES", "Output"]

MAX_LINES = 2000
MAX_BYTES = 50 * 1024
"""As the output of ``bash``."""


class Output:
    """What a script prints; its process limits how much that can be.

    Args:
        redact: Takes secrets out of what is written to the file.
    """

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact
        self._pieces: list[str] = []

    def write(self, text: str) -> None:
        """Take a piece."""
        self._pieces.append(text)

    def tail(self) -> str:
        """Return the end of what was printed so far, for an update."""
        self._pieces = ["".join(self._pieces)]
        return _end_of(self._pieces[0])

    def finish(self, last: str) -> tuple[str, dict[str, Any]]:
        """Return the text for the model, and the details of the result.

        Args:
            last: What follows the printed text: the script's value, or how it failed.
        """
        printed = "".join(self._pieces)
        joint = "\n" if printed and last and not printed.endswith("\n") else ""
        whole = f"{printed}{joint}{last}".rstrip("\n")
        end = _end_of(whole)
        if end == whole:
            return whole, {}
        lines, shown = whole.count("\n") + 1, end.count("\n") + 1
        place, details = self._write(whole)
        return f"{end}\n\n[Showing lines {lines - shown + 1}-{lines} of {lines}. Full output: {place}]", details

    def _write(self, text: str) -> tuple[str, dict[str, Any]]:
        """Write a file; return its path, or why there is none, and the details."""
        try:
            descriptor, path = tempfile.mkstemp(prefix="pi-codemode-", suffix=".log")
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
                file.write(self._redact(text))
        except OSError as error:
            return f"unavailable (it could not be written: {error.strerror or error})", {}
        return path, {"fullOutputPath": path}


def _end_of(text: str) -> str:
    """Return the last lines that fit; of one long line, its end."""
    if len(text) <= MAX_BYTES // 4 and text.count("\n") < MAX_LINES:
        return text
    lines = text.split("\n")[-MAX_LINES:]
    data = "\n".join(lines).encode("utf-8", "replace")
    if len(data) <= MAX_BYTES:
        return "\n".join(lines)
    kept = data[-MAX_BYTES:].decode("utf-8", "ignore")
    _, newline, whole_lines = kept.partition("\n")
    return whole_lines if newline and whole_lines else kept

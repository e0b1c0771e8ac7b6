"""The terminal, opened a second time: a write takes what it can and never waits, so that it needs no thread."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

__all__ = ["DirectOutput", "open_terminal"]


class DirectOutput:
    """A descriptor of the terminal that does not block; the one of standard output is shared with other programs.

    Args:
        descriptor: The descriptor, which is closed with this.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, data: bytes) -> bytes:
        """Write as much as the terminal takes, and return the rest."""
        try:
            return data[os.write(self._descriptor, data) :]
        except OSError:  # it takes nothing now, or is gone
            return data

    def close(self) -> None:
        """Close the descriptor."""
        with suppress(OSError):
            os.close(self._descriptor)


def open_terminal(output: TextIO | None) -> DirectOutput | None:
    """Return the terminal to which an output goes; None if that is none, has no name here, or is not in UTF-8."""
    if output is None or output.encoding.lower() not in ("utf-8", "utf8"):
        return None
    try:
        name = os.ttyname(output.fileno())
        return DirectOutput(os.open(name, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK))
    except (OSError, ValueError):
        return None

"""Output printed while the front end uses the terminal: displayed as notices, or kept and printed at the end."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from pi_terminal_kit.streams import StrayLines

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

__all__ = ["Printed"]


class Printed:
    """Printed lines that are not displayed yet.

    Attributes:
        stream: Replaces ``sys.stdout`` and ``sys.stderr``.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._sink: Callable[[str], object] = self._lines.append
        self.stream = StrayLines(sys.stderr, self._pass_on, asyncio.get_running_loop())

    def _pass_on(self, lines: str) -> None:
        self._sink(lines)

    def to(self, sink: Callable[[str], object]) -> None:
        """Pass all further lines to a function, after those that were printed before."""
        kept, self._lines = self._lines, []
        self._sink = sink
        for lines in kept:
            sink(lines)

    def keep(self) -> None:
        """Keep lines again, since nothing displays them any longer."""
        self._sink = self._lines.append

    def end(self, file: TextIO | None) -> None:
        """Print the lines that were not displayed."""
        self.stream.close()
        with suppress(OSError, ValueError, AttributeError):
            for lines in self._lines:
                print(lines, file=file, flush=True)

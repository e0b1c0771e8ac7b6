"""Output printed while the front end uses the terminal: displayed as notices, or kept and printed at the end."""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from attrs import define, field

from pi_core.base.process.stray_output import StrayOutput
from pi_terminal_kit.streams import StrayLines, printed_by

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

    from pi_core.host.owners import CodeOwners

__all__ = ["Printed"]

_MOST_CHARACTERS = 16_000
"""Characters that are displayed of what a plugin prints within a second; of more, the rest is counted."""

_LEAST_CHARACTERS = 80
"""Characters that each text counts for, as many short ones take as long to display as a long one."""

_SECOND = 1.0


@define
class _Limit:
    """How much more of what the same plugins print is displayed.

    Attributes:
        since: When the second began.
        room: Characters.
        left_out: Characters that were counted only.
    """

    since: float = field(factory=time.monotonic)
    room: int = _MOST_CHARACTERS
    left_out: int = 0


class Printed:
    """Printed lines that are not displayed yet.

    Of a plugin's flood, the first characters of each second are displayed, and how many were left out.

    Args:
        owners: Finds the plugins that print; None if pi has none in this process.

    Attributes:
        stream: Replaces ``sys.stdout`` and ``sys.stderr``.
        stray: What is printed past these.
    """

    def __init__(self, owners: CodeOwners | None = None) -> None:
        self._lines: list[str] = []
        self._sink: Callable[[str], object] = self._lines.append
        self._loop = asyncio.get_running_loop()
        self._owners = owners
        self._limits: dict[tuple[str, ...], _Limit] = {}
        self.stream = StrayLines(sys.stderr, self._take_lines, self._loop, self._owner)
        self.stray = StrayOutput(self._take_stray)
        if owners is not None:
            from pi_core.host.writers import OutputWriters

            self.stray.writers = OutputWriters(owners)

    def _owner(self) -> str | None:
        if self._owners is None:
            return None
        from pi_core.host.writers import printing_plugin

        return printing_plugin(self._owners, sys._getframe(2))  # noqa: SLF001 - the documented way to the stack

    def _take_lines(self, lines: str, plugin: str | None) -> None:
        self._pass_on((plugin,) if plugin is not None else (), lines)

    def _take_stray(self, plugins: list[str], lines: str) -> None:
        """Pass on what the descriptors received; called in another thread, and after the loop's end."""
        text = printed_by(plugins, lines, is_known=False)
        try:
            self._loop.call_soon_threadsafe(self._pass_on, tuple(plugins), text)
        except RuntimeError:  # the loop was closed
            self._lines.append(text)

    def _pass_on(self, who: tuple[str, ...], lines: str) -> None:
        limit = self._limits.setdefault(who, _Limit())
        now = time.monotonic()
        if now - limit.since > _SECOND and not limit.left_out:
            limit.since, limit.room = now, _MOST_CHARACTERS
        kept = lines[: max(limit.room, 0)]
        limit.room -= max(len(kept), _LEAST_CHARACTERS)
        if kept:
            self._sink(kept)
        if len(kept) < len(lines):
            if not limit.left_out and not self._loop.is_closed():
                self._loop.call_later(_SECOND, self._tell_left_out, who)
            limit.left_out += len(lines) - len(kept)

    def _tell_left_out(self, who: tuple[str, ...]) -> None:
        limit = self._limits.pop(who, None)
        if limit is not None and limit.left_out:
            self._sink(printed_by(who, f"... {limit.left_out:,} more printed characters are left out"))

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
        self.keep()
        for who in list(self._limits):
            self._tell_left_out(who)
        with suppress(OSError, ValueError, AttributeError):
            for lines in self._lines:
                print(lines, file=file, flush=True)

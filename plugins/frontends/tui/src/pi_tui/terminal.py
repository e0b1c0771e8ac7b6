"""The terminal while the front end uses it: its capabilities and settings, and how they are restored."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TextIO

    from pi_tui.early_keys import EarlyKeys

__all__ = ["ENTER", "LEAST_HEIGHT", "LEAST_WIDTH", "LEAVE", "PROGRESS_OFF", "PROGRESS_ON", "Terminal"]

LEAST_WIDTH, LEAST_HEIGHT = 20, 6
"""Minimum size in cells; the line mode is used in smaller terminals."""

ENTER = "\x1b[22;0t\x1b[?1049h\x1b[?25l"
"""Saves the window's title, switches to the alternate screen and hides the cursor."""

PROGRESS_ON, PROGRESS_OFF = "\x1b]9;4;3;0\x07", "\x1b]9;4;0;0\x07"
"""Start and stop the display of indeterminate progress in the terminal's tab (OSC 9;4)."""

_STDOUT = 1

_MODES_OFF = (
    "\x1b[?2026l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1004l\x1b[?2004l\x1b[?2048l\x1b[<u\x1b[>4m"
)
"""Turns off synchronised output, mouse, focus, paste, resize reports and extended keys; harmless if they are off."""

LEAVE = f"{_MODES_OFF}\x1b[0m\x1b[?7h\x1b[?1049l\x1b[?25h\x1b[23;0t"
"""Undoes ``ENTER`` and turns off all modes that were turned on since."""


class Stray(Protocol):
    """Reads what others write to stdout and stderr.

    Attributes:
        restore: Called to give the terminal back if the process ends at once.
    """

    restore: Callable[[], object]

    def begin(self) -> int | None:
        """Begin, and return the descriptor of the terminal to draw on; None if stdout is no terminal."""
        ...

    def lend(self) -> None:
        """Make the descriptors the terminal for a while."""
        ...

    def take_back(self) -> None:
        """Undo ``lend``."""
        ...

    def end(self) -> None:
        """End, after everything that was written was passed on."""
        ...


class Terminal:
    """The terminal of this process, on which the front end draws.

    Args:
        environ: The environment.

    Attributes:
        is_taken: Whether it is in raw mode and displays the alternate screen.
        shows_progress: Whether its tab displays that pi is working.
        settings: Its original settings, in the form of ``termios``; None until it is taken over.
        shows_cursor: Whether its own cursor is visible, for input methods.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ
        self.is_taken = False
        self.shows_cursor = False
        self.shows_progress = False
        self.settings: list[Any] | None = None
        self._early: EarlyKeys | None = None
        self._typed = b""
        self._in, self._out = sys.__stdin__, sys.__stdout__
        self._stray: Stray | None = None

    @property
    def output(self) -> TextIO | None:
        """The terminal to draw on; not ``sys.__stdout__`` while others' output to that is read."""
        return self._out

    def reserve(self, stray: Stray) -> None:
        """Draw on a descriptor of our own, and have what others write to stdout and stderr read."""
        out = self._out
        if out is None or out.fileno() != _STDOUT:
            return
        descriptor = stray.begin()
        if descriptor is not None:
            self._out = os.fdopen(descriptor, "w", encoding=out.encoding, errors=out.errors, closefd=False)
            self._stray, stray.restore = stray, self.restore

    def lend(self) -> None:
        """Let programs that the user runs in the terminal write to it."""
        if self._stray is not None:
            self._stray.lend()

    def take_back(self) -> None:
        """Have output read again that others write to stdout and stderr."""
        if self._stray is not None:
            self._stray.take_back()

    def release(self) -> None:
        """Pass on what others have written so far, and draw on stdout again."""
        stray, self._stray = self._stray, None
        if stray is not None:
            self._out = sys.__stdout__
            stray.end()

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        try:
            return os.get_terminal_size(self._out.fileno()) if self._out is not None else (0, 0)
        except (OSError, ValueError):
            return 0, 0

    def check(self) -> None:
        """Raise an error if the front end cannot be used.

        Raises:
            UserError: The front end cannot be used; the text gives the reason.
        """
        if sys.platform == "win32":
            raise UserError("the full screen does not support Windows yet")
        term = self.environ.get("TERM", "")
        if term in ("", "dumb", "unknown"):
            raise UserError(f"the terminal is of kind {term!r}, which cannot move its cursor")
        width, height = self.size
        if width < LEAST_WIDTH or height < LEAST_HEIGHT:
            raise UserError(f"the terminal has {width}x{height} cells, and {LEAST_WIDTH}x{LEAST_HEIGHT} are needed")

    def take(self, picture: str = "") -> None:
        """Switch to raw input and to the alternate screen, and write ``picture`` there.

        Ctrl+C still sends an interrupt: until a session is created, nothing else could stop pi.
        """
        import termios

        from pi_tui.early_keys import typed_before

        if self._in is None or self.is_taken:
            return
        descriptor = self._in.fileno()
        self.settings = termios.tcgetattr(descriptor)
        raw = termios.tcgetattr(descriptor)
        raw[0] &= ~(termios.IXON | termios.IXOFF | termios.ICRNL | termios.INLCR | termios.IGNCR)
        raw[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN)
        raw[6] = [*raw[6]]
        raw[6][termios.VMIN], raw[6][termios.VTIME] = 1, 0
        raw[6][termios.VSUSP] = raw[6][termios.VQUIT] = b"\0"
        termios.tcsetattr(descriptor, termios.TCSANOW, raw)
        self._typed = typed_before(descriptor)
        self.is_taken = True
        self.write(ENTER + picture)

    def read_early(self, width: int, draw: Callable[[str], object]) -> None:
        """Read typed input until ``stop_early``, and draw it if it is plain text."""
        from pi_tui.early_keys import EarlyKeys

        if self._in is not None and self.is_taken:
            self._early = EarlyKeys(self._in.fileno(), width, draw, self._typed)

    def stop_early(self) -> bytes:
        """Stop reading and return the input typed so far; the caller reads further input."""
        early, self._early = self._early, None
        typed, self._typed = self._typed, b""
        return early.stop() if early is not None else typed

    def restore(self) -> None:
        """Restore the terminal; do nothing if it was not taken over or was already restored."""
        self.stop_early()
        if not self.is_taken:
            return
        self.is_taken = False
        self.write(f"{PROGRESS_OFF}{LEAVE}" if self.shows_progress else LEAVE)
        self.restore_settings()
        self.lend()

    def restore_settings(self) -> None:
        """Restore the original settings, but stay on the current screen."""
        import termios

        if self.settings is not None and self._in is not None:
            with suppress(termios.error, OSError, ValueError):
                termios.tcsetattr(self._in.fileno(), termios.TCSANOW, self.settings)

    def write(self, text: str) -> None:
        """Write to the terminal, even if ``sys.stdout`` is replaced; do nothing if the terminal is gone."""
        if self._out is None:
            return
        rest = text.encode(errors="replace")
        with suppress(OSError, ValueError):
            while rest:
                rest = rest[os.write(self._out.fileno(), rest) :]

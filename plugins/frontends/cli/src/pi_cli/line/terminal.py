"""The terminal while the input line is held at its bottom: reads keys, and writes pi's output and the line together.

While pi works, Ctrl-C is a signal, which arrives even if a plugin blocks the event loop. Otherwise it is an ordinary
key, and other programs of the terminal do not receive it.
"""

from __future__ import annotations

import os
import select
import sys
import termios
from contextlib import contextmanager, suppress
from fcntl import ioctl
from typing import TYPE_CHECKING

from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.output.vt100 import Vt100_Output

from pi_terminal_kit.pastes import looks_pasted, marks_pastes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

    from prompt_toolkit.key_binding import KeyPress

__all__ = ["LineInput", "LineOutput"]

_LFLAG, _IFLAG, _CC = 3, 0, 6
"""Indexes into the result of ``tcgetattr``."""

_NEW_LINE_KEYS = {"\x1b[13;2u": "\n", "\x1b[27;2;13~": "\n"}
"""What some terminals send for Shift-Enter."""

_PASTE_PAUSE = 0.03
"""Seconds within which the next part of an unmarked paste arrives."""

_MARKED = "\x1b[200~{}\x1b[201~"


class LineInput(Vt100Input):
    """The terminal's keys.

    Args:
        stdin: The terminal.
        term: Its name, from ``$TERM``.

    Attributes:
        lent: Whether another program has the terminal: an editor, or the shell while pi is suspended.
        stays_raw: Whether the terminal passes from one of pi's lines to another, and must not echo meanwhile.
    """

    def __init__(self, stdin: TextIO, term: str = "") -> None:
        super().__init__(stdin)
        self.lent = False
        self.stays_raw = False
        self._term = term
        self._signals = False
        self._raw = 0
        self._typed_before = 0

    def for_a_question(self) -> LineInput:
        """Return separate keys of the same terminal, for a line that is read in between.

        A line waits for what may follow an escape, and would mistake the other line's escape for its own.
        """
        return LineInput(self.stdin, self._term)

    def set_signals(self, on: bool) -> None:  # noqa: FBT001 - the one thing that it is about
        """Let Ctrl-C be a signal, or a key."""
        self._signals = on
        self.apply()

    @contextmanager
    def raw_mode(self) -> Iterator[None]:
        """Read keys as they are typed, without echo."""
        cooked = self._is_cooked()
        with super().raw_mode():
            self._raw += 1
            if cooked:
                self._typed_before += self._waiting()
            self._apply()
            try:
                yield
            finally:
                self._raw -= 1

    @contextmanager
    def cooked_mode(self) -> Iterator[None]:
        """Lend the terminal to another program."""
        if self.stays_raw:
            yield
            return
        with super().cooked_mode():
            self.lent = True
            try:
                yield
            finally:
                self.lent = False

    def read_keys(self) -> list[KeyPress]:
        """Return the input, with each paste in one piece."""
        data = self.stdin_reader.read()
        if self._typed_before > 0:  # before pi listened, when the terminal made newlines of Enter
            self._typed_before -= len(data.encode(errors="surrogateescape"))
            data = data.replace("\n", "\r")
        for sent, meant in _NEW_LINE_KEYS.items():
            data = data.replace(sent, meant)
        if not marks_pastes(self._term) and looks_pasted(data):
            data = self._marked(data)
        self.vt100_parser.feed(data)
        keys, self._buffer = self._buffer, []
        return keys

    def read_waiting(self) -> list[KeyPress]:
        """Return the pending input while no line reads it."""
        return self.read_keys() if select.select([self.fileno()], [], [], 0)[0] else []

    def _marked(self, data: str) -> str:
        """Mark input of several lines that arrives at once as a paste; a final line end counts as Enter."""
        while select.select([self.fileno()], [], [], _PASTE_PAUSE)[0]:
            more = self.stdin_reader.read()
            if not more:
                break
            data += more
        body = data.rstrip("\r")
        return _MARKED.format(body) + ("\r" if len(body) < len(data) else "")

    def apply(self) -> None:
        """Set how the terminal handles Ctrl-C while its keys are read."""
        if self._raw and not self.lent:
            self._apply()

    def _apply(self) -> None:
        with suppress(termios.error):
            mode = termios.tcgetattr(self.fileno())
            mode[_LFLAG] &= ~termios.ISIG
            if self._signals:
                mode[_LFLAG] |= termios.ISIG | termios.NOFLSH  # a signal throws away nothing that was typed
            nothing = os.fpathconf(self.fileno(), "PC_VDISABLE").to_bytes(1, sys.byteorder)
            for key in (termios.VQUIT, termios.VSUSP):  # Ctrl-Z remains a key: the line is put away first
                mode[_CC][key] = nothing
            termios.tcsetattr(self.fileno(), termios.TCSANOW, mode)

    def _is_cooked(self) -> bool:
        with suppress(termios.error):
            mode = termios.tcgetattr(self.fileno())
            return bool(mode[_LFLAG] & termios.ICANON and mode[_IFLAG] & termios.ICRNL)
        return False

    def _waiting(self) -> int:
        """Return the number of pending bytes."""
        with suppress(OSError):
            return int.from_bytes(ioctl(self.fileno(), termios.FIONREAD, b"\0\0\0\0"), sys.byteorder)
        return 0


class LineOutput(Vt100_Output):
    """The terminal's screen; output inside ``in_one_piece`` is written at once, so that nothing flickers."""

    _pieces = 0

    @contextmanager
    def in_one_piece(self) -> Iterator[None]:
        """Buffer output until the end of the block."""
        self._pieces += 1
        try:
            yield
        finally:
            self._pieces -= 1
            self.flush()

    def flush(self) -> None:
        """Write the buffered output."""
        if not self._pieces:
            super().flush()

    def disable_bracketed_paste(self) -> None:
        """Disable marked pastes, but not while the line is redrawn: a paste may begin then."""
        if not self._pieces:
            super().disable_bracketed_paste()

    @property
    def responds_to_cpr(self) -> bool:
        """Return False, so that the cursor position is never queried: a late reply would be mistaken for typed text."""
        return False

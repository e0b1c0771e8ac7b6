"""The terminal while a line is held at its bottom: how keys arrive, and how pi's text and the line leave together.

While pi works, Ctrl-C is a signal: it arrives even where a plugin blocks the event loop. Otherwise it is a key like
all others, and no other program of the terminal is bothered by it.
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
"""Places in what ``tcgetattr`` returns."""

_NEW_LINE_KEYS = {"\x1b[13;2u": "\n", "\x1b[27;2;13~": "\n"}
"""What some terminals send for Shift-Enter."""

_PASTE_PAUSE = 0.03
"""Seconds within which a terminal that does not mark pastes sends the next part of one."""

_MARKED = "\x1b[200~{}\x1b[201~"


class LineInput(Vt100Input):
    """The terminal's keys.

    Args:
        stdin: The terminal.
        term: Its name, as ``$TERM`` has it.

    Attributes:
        lent: Whether another program has the terminal now: an editor, or the shell while pi is suspended.
        stays_raw: Whether the terminal is handed from one of pi's own lines to another, and never echoes meanwhile.
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
        """Return keys of the same terminal for a line that is read in between, with a memory of its own.

        A line waits for what may follow an escape; it would take the escape of the other one for its own.
        """
        return LineInput(self.stdin, self._term)

    def set_signals(self, on: bool) -> None:  # noqa: FBT001 - the one thing that it is about
        """Let Ctrl-C be a signal, or a key."""
        self._signals = on
        self.apply()

    @contextmanager
    def raw_mode(self) -> Iterator[None]:
        """Get keys as they are typed, without echo."""
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
        """Return what was typed, with what was pasted in one piece."""
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
        """Return what waits to be read, while no line reads it."""
        return self.read_keys() if select.select([self.fileno()], [], [], 0)[0] else []

    def _marked(self, data: str) -> str:
        """Return what comes all at once, in several lines, marked as a paste; a line's end at its end is Enter."""
        while select.select([self.fileno()], [], [], _PASTE_PAUSE)[0]:
            more = self.stdin_reader.read()
            if not more:
                break
            data += more
        body = data.rstrip("\r")
        return _MARKED.format(body) + ("\r" if len(body) < len(data) else "")

    def apply(self) -> None:
        """Set the terminal's handling of Ctrl-C while its keys are read."""
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
        """Return how many bytes wait to be read."""
        with suppress(OSError):
            return int.from_bytes(ioctl(self.fileno(), termios.FIONREAD, b"\0\0\0\0"), sys.byteorder)
        return 0


class LineOutput(Vt100_Output):
    """The terminal's screen; what is written inside ``in_one_piece`` reaches it at once, so that nothing flickers."""

    _pieces = 0

    @contextmanager
    def in_one_piece(self) -> Iterator[None]:
        """Hold back what is written until the end of the block."""
        self._pieces += 1
        try:
            yield
        finally:
            self._pieces -= 1
            self.flush()

    def flush(self) -> None:
        """Write what has gathered."""
        if not self._pieces:
            super().flush()

    def disable_bracketed_paste(self) -> None:
        """Let pastes come unmarked, but not for the moment in which the line is drawn anew: one may begin then."""
        if not self._pieces:
            super().disable_bracketed_paste()

    @property
    def responds_to_cpr(self) -> bool:
        """Do without asking where the cursor is: the answer of a slow connection would be taken for typed text."""
        return False

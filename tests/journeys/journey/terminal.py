"""A program on a pseudoterminal: what its screen shows, keys for it, and when it has nothing left to do."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from typing import TYPE_CHECKING, Self

import pyte
from journey.processes import is_busy
from wcwidth import wcwidth

from pi_testing.patience import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path


_QUIET_LOOKS = 8
"""Looks without output, and with nothing running, after which a program waits for keys.

These are not seconds: on a slow computer it may be this process that had to wait, and has not looked meanwhile.
"""

_TICK = 0.01
"""Seconds between two looks."""

_LFLAG = 3
"""Index into the result of ``tcgetattr``."""


class NotReached(AssertionError):
    """What was waited for did not come; the message has the screen."""


class _Screen(pyte.Screen):
    """A screen that also ignores what pyte takes for text: private sequences with another sense in other terminals."""

    def set_margins(self, *args: int, **kwargs: object) -> None:
        kwargs.pop("private", None)
        super().set_margins(*args)

    def select_graphic_rendition(self, *attributes: int, **kwargs: object) -> None:
        if not kwargs.pop("private", False):
            super().select_graphic_rendition(*attributes)

    def texts(self) -> list[str]:
        """Return the rows, without blanks at their ends: what ``display`` has, which takes six times as long."""
        columns, buffer = range(self.columns), self.buffer
        return [_text([line[column].data for column in columns]) for line in map(buffer.__getitem__, range(self.lines))]


def _text(cells: list[str]) -> str:
    text = "".join(cells)
    if not text.isascii():  # a wide character hides the cell after it
        wide = [wcwidth(cell[0]) == 2 if cell else False for cell in cells]
        text = "".join(cell for cell, is_hidden in zip(cells, [False, *wide], strict=False) if not is_hidden)
    return text.rstrip()


def _control() -> None:
    """Make stdin the controlling terminal of the new session, so that its keys and sizes become signals."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Terminal:
    """A started program and its screen.

    Args:
        command: The program with its arguments.
        work: Its working directory.
        environment: All of its environment variables.
        size: Columns and rows.

    Attributes:
        written: Everything that the program has written.
    """

    def __init__(
        self, command: Sequence[str | Path], work: Path, environment: Mapping[str, str], size: tuple[int, int]
    ) -> None:
        self._ours, its = pty.openpty()
        self.written = bytearray()
        self._rows: list[str] | None = None
        self._screen = _Screen(*size)
        self._stream = pyte.ByteStream(self._screen)
        self._set_size(its, size)
        self.process = subprocess.Popen(
            [*map(str, command)],
            stdin=its,
            stdout=its,
            stderr=its,
            cwd=work,
            env={**environment, "TERM": "xterm-256color"},
            start_new_session=True,
            preexec_fn=_control,  # noqa: PLW1509 - it only makes one system call
        )
        self._its = its

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self._ours)
        os.close(self._its)

    @property
    def rows(self) -> list[str]:
        """The rows of the screen, without blanks at their ends."""
        if self._rows is None:  # drawing them takes longer than most of what is compared with them
            self._rows = self._screen.texts()
        return self._rows

    @property
    def text(self) -> str:
        """The screen, one line per row."""
        return "\n".join(self.rows)

    @property
    def row(self) -> str:
        """The row in which the cursor is, without blanks at its end."""
        return self.rows[self._screen.cursor.y]

    @property
    def cursor(self) -> tuple[int, int]:
        """Column and row of the cursor."""
        return self._screen.cursor.x, self._screen.cursor.y

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        return self._screen.columns, self._screen.lines

    @property
    def interrupts(self) -> bool:
        """Whether Ctrl-C is a signal for the program, and not a key that it reads."""
        return bool(termios.tcgetattr(self._its)[_LFLAG] & termios.ISIG)

    def resize(self, size: tuple[int, int]) -> None:
        """Give the terminal other columns and rows."""
        self._screen.resize(size[1], size[0])
        self._rows = None
        self._set_size(self._ours, size)

    def type(self, keys: str) -> None:
        """Send keys as a terminal does."""
        data = keys.encode()
        while data:
            if select.select([], [self._ours], [], PATIENCE)[1]:
                data = data[os.write(self._ours, data) :]
            self._read(0)

    def disturb(self, text: str) -> None:
        """Let another program write to the terminal."""
        os.write(self._its, text.encode())
        self._read(0)

    def sees(self, *expected: str) -> str:
        """Wait until the screen has all these texts, and return it."""
        return self.until(lambda: all(each in self.text for each in expected), f"{expected!r}")

    def until(self, reached: Callable[[], bool], what: str) -> str:
        """Wait until something holds, and return the screen."""
        end = time.monotonic() + PATIENCE
        while not reached():
            if time.monotonic() > end or not self._read(_TICK) or self.process.poll() is not None:
                state = self.process.poll()
                ended = "" if state is None else f"; the program has ended with {state}"
                raise NotReached(f"{what} does not come{ended}\n{self._drawn()}")
        return self.text

    def settle(self) -> str:
        """Wait until the program has written everything and waits, and return the screen."""
        end = time.monotonic() + PATIENCE
        quiet = 0
        while quiet < _QUIET_LOOKS:
            if time.monotonic() > end:
                raise NotReached(f"the program is still busy after {PATIENCE} s\n{self._drawn()}")
            before = len(self.written)
            if not self._read(_TICK) or self.process.poll() is not None:
                break
            is_working = len(self.written) != before or self._unread() or is_busy(self.process.pid)
            quiet = 0 if is_working else quiet + 1
        return self.text

    def ends(self) -> int:
        """Wait for the end of the program, and return its exit code."""
        end = time.monotonic() + PATIENCE
        while self._read(_TICK) and self.process.poll() is None:
            if time.monotonic() > end:
                raise NotReached(f"the program does not end\n{self._drawn()}")
        self._read(0)
        return self.process.wait(PATIENCE)

    def _drawn(self) -> str:
        return "\n".join([*(f"|{row}" for row in self.rows), f"(cursor at column and row {self.cursor})"])

    def _read(self, seconds: float) -> bool:
        """Read what is there, for so long at most; return whether the terminal is open."""
        while select.select([self._ours], [], [], seconds)[0]:
            try:
                data = os.read(self._ours, 1 << 16)
            except OSError:
                return False
            if not data:
                return False
            self.written += data
            self._stream.feed(data)
            self._rows = None
            seconds = 0
        return True

    def _unread(self) -> int:
        """Return how many bytes of keys the program has not read yet."""
        return int.from_bytes(fcntl.ioctl(self._its, termios.FIONREAD, bytes(4)), sys.byteorder)

    @staticmethod
    def _set_size(descriptor: int, size: tuple[int, int]) -> None:
        fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))

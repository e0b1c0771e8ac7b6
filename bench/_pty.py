"""A program in a terminal of its own: what it has written, what its process has cost, and when it has become quiet.

Nothing emulates a terminal here: a program that writes megabytes would be measured together with the emulator. What is
visible is searched for in the text that is left when escape sequences are taken out; questions that a usual terminal
answers are answered, since a program may wait for that.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import termios
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from _peer import Program

WIDTH, HEIGHT = 100, 40
PATIENCE = 120.0
QUIET = 0.6
"""Seconds without output after which a program is done; its spinner would have turned."""

SEQUENCE = re.compile(rb"\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)|[P_^X][^\x1b]*\x1b\\|\[[0-?]*[ -/]*[@-~]|[()*+].|[ -~])")
ANSWERS = {
    b"\x1b[c": b"\x1b[?62;22c",
    b"\x1b[6n": b"\x1b[1;1R",
    b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x1b\\",
    b"\x1b[?2026$p": b"\x1b[?2026;2$y",
}


class Terminal:
    """A running program.

    Attributes:
        written: Bytes that it has written so far.
    """

    def __init__(self, process: int, descriptor: int) -> None:
        self.process = process
        self.written = 0
        self._descriptor = descriptor
        self._started = time.monotonic()
        self._recent = self._beginning = b""

    def send(self, keys: str) -> None:
        """Type keys."""
        os.write(self._descriptor, keys.encode())

    def resize(self, width: int, height: int) -> None:
        """Change the size; the program gets a signal."""
        fcntl.ioctl(self._descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def until(self, text: str) -> float:
        """Read until a text is written; return the milliseconds since the start of the program."""
        wanted, end = text.encode(), time.monotonic() + PATIENCE
        while wanted not in SEQUENCE.sub(b"", self._recent):
            self._read(end, f"{text!r} did not come")
        self._recent = b""
        return (time.monotonic() - self._started) * 1000

    def until_ready(self, text: str) -> None:
        """Read until a text of the first pictures was written, and then nothing for a while."""
        end = time.monotonic() + PATIENCE
        while text.encode() not in SEQUENCE.sub(b"", self._beginning):
            self._read(end, f"{text!r} did not come")
        self.until_quiet()

    def until_quiet(self, seconds: float = QUIET) -> None:
        """Read until nothing has been written for a while."""
        end = time.monotonic() + PATIENCE
        while select.select([self._descriptor], [], [], seconds)[0]:
            self._read(end, "the program does not become quiet")

    def read_for(self, seconds: float) -> None:
        """Read for some time."""
        end = time.monotonic() + seconds
        while select.select([self._descriptor], [], [], max(end - time.monotonic(), 0))[0]:
            self._read(end + 1, "")

    def key(self, key: str, visible: str) -> float:
        """Type a key and return the milliseconds until a text is written."""
        self._recent = b""
        self.send(key)
        typed = time.monotonic()
        self.until(visible)
        return (time.monotonic() - typed) * 1000

    def cpu(self) -> float:
        """Return the milliseconds of CPU time that the process has used, with all its threads."""
        return time.clock_gettime((~self.process << 3) | 2) * 1000  # what clock_getcpuclockid(3) returns

    def memory(self) -> float:
        """Return the megabytes that it holds, its part of shared ones included."""
        rollup = Path(f"/proc/{self.process}/smaps_rollup").read_text(encoding="ascii")
        return int(re.findall(r"^Pss:\s+(\d+)", rollup, re.MULTILINE)[0]) / 1024

    def _read(self, end: float, problem: str) -> None:
        ready, _, _ = select.select([self._descriptor], [], [], max(end - time.monotonic(), 0))
        data = b""
        with suppress(OSError):  # it has ended
            data = os.read(self._descriptor, 65536) if ready else b""
        if not data:
            last = self._recent[-3000:].decode(errors="replace")
            raise RuntimeError(f"{problem}; the last that was written is {last!r}")
        self.written += len(data)
        for question, answer in ANSWERS.items():
            if question in data:
                os.write(self._descriptor, answer)
        self._recent = (self._recent + data)[-200_000:]
        self._beginning += data[: max(100_000 - len(self._beginning), 0)]


@contextmanager
def terminal(program: Program, arguments: Sequence[str]) -> Iterator[Terminal]:
    """Run a program in a terminal for as long as the block; then it is killed."""
    process, descriptor = pty.fork()
    if process == 0:  # the new process
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
        os.chdir(program.environ["PWD"])
        command = [*program.command, *arguments]
        os.execve(command[0], command, {**program.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"})  # noqa: S606 - no shell is wanted
    running = Terminal(process, descriptor)
    try:
        yield running
    finally:
        with suppress(ProcessLookupError):
            os.kill(process, 9)
        os.waitpid(process, 0)
        os.close(descriptor)

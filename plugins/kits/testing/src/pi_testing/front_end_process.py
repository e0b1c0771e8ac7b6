"""Runs ``pi`` in a process, with pipes or at a terminal: writes its input and collects its output."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pi_testing.patience import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Ended", "FrontEnd", "running"]

_PLUGIN = Path(__file__).with_name("front_end_plugin.py")


class Ended(NamedTuple):
    """The result of a process; at a terminal ``out`` is all of its output."""

    out: str
    err: str
    code: int


class FrontEnd:
    """One process.

    Args:
        mode: Value of ``--mode``.
        folder: The working directory; ``home``, with the agent directory in it, and the error output are next to it.
        prompts: Prompts of the command line.
        terminal: Whether it runs at a terminal.
        extensions: As ``-e`` takes them.
    """

    def __init__(
        self,
        mode: str,
        folder: Path,
        prompts: Iterable[str] = (),
        *,
        terminal: bool = False,
        extensions: Iterable[str | Path] = (),
    ) -> None:
        loaded = [part for each in (_PLUGIN, *extensions) for part in ("-e", str(each))]
        model = ("--model", "contract/model")
        command = [sys.executable, "-P", "-m", "pi_cli", "--mode", mode, *model, *loaded, *prompts]
        self._seen = b""
        self._errors = folder.with_name("stderr.txt")
        self._terminal = terminal
        if terminal:
            self._output, other = os.openpty()
            self._input = self._output
            self.process = self._start(command, folder, other, other, other)
            os.close(other)
            return
        with self._errors.open("wb") as errors:
            self.process = self._start(command, folder, subprocess.PIPE, subprocess.PIPE, errors.fileno())
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._input, self._output = os.dup(self.process.stdin.fileno()), os.dup(self.process.stdout.fileno())
        self.process.stdin.close()
        self.process.stdout.close()

    def _start(self, command: list[str], folder: Path, stdin: int, stdout: int, stderr: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - pi itself
            command,
            cwd=folder,
            env=_environment(folder.with_name("home")),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            bufsize=0,
            start_new_session=self._terminal,
        )

    def type(self, text: str) -> None:
        """Write to its stdin."""
        with suppress(BrokenPipeError):
            os.write(self._input, text.encode())

    def until(self, *expected: str) -> str:
        """Return the output so far, as soon as one of these is in it."""
        while not any(each.encode() in self._seen for each in expected):
            piece = self._read()
            assert piece, (
                f"none of {expected} was printed before the end of {self._stdout()!r}; stderr: {self._stderr()!r}"
            )
            self._seen += piece
        return self._stdout()

    def leave(self) -> None:
        """Close the reading end of its output."""
        os.close(self._output)
        self._output = -1

    def end_input(self) -> None:
        """Let its stdin end; at a terminal Ctrl-D does that, as often as needed."""
        if not self._terminal and self._input >= 0:
            os.close(self._input)
            self._input = -1

    def ended(self) -> Ended:
        """End its stdin, wait for it to exit, and return its result."""
        self.end_input()
        limit = time.monotonic() + PATIENCE
        while self.process.poll() is None or self._output >= 0:
            assert time.monotonic() < limit, f"it does not end; stdout: {self._stdout()!r}; stderr: {self._stderr()!r}"
            if self._terminal and self.process.poll() is None:
                with suppress(OSError):
                    os.write(self._input, b"\x04")  # the prompt may be printed just before input is read
            if not self._drained(0.2):
                break
        return Ended(self._stdout(), self._stderr(), self.process.wait(PATIENCE))

    def close(self) -> None:
        """Kill it if it is still running."""
        self.process.kill()
        self.process.wait()
        for descriptor in {self._input, self._output} - {-1}:
            os.close(descriptor)
        self._input = self._output = -1

    def _drained(self, seconds: float) -> bool:
        """Read the available output; return False when no more can follow."""
        if self._output < 0:
            time.sleep(0.02)
            return self.process.poll() is None
        if select.select([self._output], [], [], seconds)[0]:
            piece = self._piece()
            self._seen += piece
            return bool(piece)
        return True

    def _read(self) -> bytes:
        ready, _, _ = select.select([self._output], [], [], PATIENCE)
        assert ready, f"no more output after {self._stdout()!r}; stderr: {self._stderr()!r}"
        return self._piece()

    def _piece(self) -> bytes:
        try:
            return os.read(self._output, 65_536)
        except OSError:  # the last process has left the terminal
            return b""

    def _stdout(self) -> str:
        return self._seen.decode(errors="replace").replace("\r\n", "\n")

    def _stderr(self) -> str:
        return "" if self._terminal else self._errors.read_text(encoding="utf-8", errors="replace")


def running(word: str) -> list[str]:
    """Return the command lines that contain a word, of running processes without zombies."""
    if not Path("/proc/self/cmdline").exists():
        command = ["ps", "-A", "-o", "command="]  # POSIX specifies it, in whichever folder it is
        listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603 - as written
        return [line for line in listing.splitlines() if word in line]
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            line = each.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if word in line:
                found.append(line.strip())
    return found


def _environment(home: Path) -> dict[str, str]:
    """Return an environment in which nothing of the developer's own pi is seen."""
    kept = {name: os.environ[name] for name in os.environ if not name.startswith("PI_") and "_API_KEY" not in name}
    return {**kept, "HOME": str(home), "PI_CODING_AGENT_DIR": str(home / "agent"), "TERM": "dumb", "PYTHONUTF8": "1"}

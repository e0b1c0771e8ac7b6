"""Output that goes past ``sys.stdout`` while a front end draws on the terminal: it is read, instead of drawn over.

Code that writes to the descriptors of stdout and stderr (``os.write``, ``sys.__stdout__``, C code, programs that a
plugin starts) would draw over the screen. Meanwhile these descriptors are a pipe, and the front end draws on a copy.

A thread reads the pipe, so that a program can go on writing while the event loop stands still. It would often look too
late for who has written: a call of ``os.write`` returns, and then the function that made it. Therefore the pipe signals
what arrives (SIGIO), and the handler, which Python runs before the main thread goes on, reads from whose code it came.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import os
import selectors
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from attrs import define

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

__all__ = ["StrayOutput", "Writers", "give_terminal_back", "terminal_descriptor"]

_STDOUT, _STDERR = 1, 2

_PIPE_BYTES = 1 << 20
"""Room for what C code writes while it keeps the interpreter's lock, and with it the thread that reads."""

_READ_BYTES = 1 << 16

_REST_SECONDS = 0.1
"""Seconds without output after which an incomplete line is passed on."""

_MOST_BYTES = 16_000
"""Output of the same writers that is passed on at once; of more, the end is left out, as only floods have it."""

_LATE_SECONDS = 1.0
"""Seconds after which output that does not pause is passed on."""

_STOP_SECONDS = 1.0


class Writers(Protocol):
    """Determines who may have written."""

    def on_stack(self, frame: FrameType | None) -> str | None:
        """Return the plugin that runs in a frame; None if pi's own code or a library's is the innermost one."""
        ...

    def candidates(self) -> list[str]:
        """Return the plugins whose code runs, or waits, in any thread or task; called in the thread that reads."""
        ...


class StrayOutput:
    """Reads what is written to the descriptors of stdout and stderr, where these are a terminal.

    Args:
        take: Called with the plugins that may have written (usually one; none if it is not known) and with text, which
            ends with a line feed unless the line is not complete. Called in another thread.

    Attributes:
        writers: Determines who has written; None until plugins are known.
        restore: Gives the whole terminal back, with its settings and its screen.
    """

    def __init__(self, take: Callable[[list[str], str], object]) -> None:
        self._take = take
        self.writers: Writers | None = None
        self.restore: Callable[[], object] = self.lend
        self._terminals: dict[int, int] = {}
        self._reading = self._writing = self._wake_read = self._wake_write = -1
        self._thread: threading.Thread | None = None
        self._is_lent = True
        self._lock = threading.Lock()
        self._found: list[tuple[list[str], bytes]] = []
        self._signalled: list[str] = []
        self._handler_before: Any = None
        self._signals = False

    # The descriptors

    def begin(self) -> int | None:
        """Replace the descriptors; return the one of the terminal to draw on, None if stdout is no terminal."""
        if not _is_terminal(_STDOUT):
            return None
        self._terminals = {number: os.dup(number) for number in (_STDOUT, _STDERR) if _is_terminal(number)}
        self._reading, self._writing = os.pipe()
        self._wake_read, self._wake_write = os.pipe()
        for each in (self._reading, self._wake_read, self._wake_write):
            os.set_blocking(each, False)
        self._widen()
        self._thread = threading.Thread(target=self._run, name="pi-stray-output", daemon=True)
        self._thread.start()
        self._ask_for_signals()
        _open.append(self)
        self.take_back()
        return self._terminals[_STDOUT]

    def lend(self) -> None:
        """Make the descriptors the terminal, for the user's editor, the shell or the end; safe in any thread."""
        if self._terminals and not self._is_lent:
            _flush()
            self._is_lent = True
            for number, terminal in self._terminals.items():
                os.dup2(terminal, number)

    def take_back(self) -> None:
        """Undo ``lend``."""
        if self._terminals and self._is_lent:
            _flush()
            self._is_lent = False
            for number in self._terminals:
                os.dup2(self._writing, number)

    def end(self) -> None:
        """Lend the terminal for good, pass on everything that was written, and stop reading."""
        if not self._terminals:
            return
        self.lend()
        _open.remove(self)
        self._end_signals()
        thread, self._thread = self._thread, None
        self._wake()
        if thread is not None:
            thread.join(_STOP_SECONDS)
        terminals, self._terminals = self._terminals, {}
        if thread is None or not thread.is_alive():  # else they would become other files, which it would read
            for each in (*terminals.values(), self._reading, self._writing, self._wake_read, self._wake_write):
                os.close(each)

    @property
    def terminal(self) -> int | None:
        """The descriptor of the terminal; None before the beginning and after the end."""
        return self._terminals.get(_STDOUT)

    def _widen(self) -> None:
        with suppress(ImportError, AttributeError, OSError):  # other systems than Linux
            import fcntl

            fcntl.fcntl(self._writing, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    # Who has written

    def _ask_for_signals(self) -> None:
        """Let the pipe signal each write, if no other code uses this signal."""
        if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGIO"):
            return
        before = _signal.getsignal(signal.SIGIO)
        if before not in (signal.SIG_DFL, signal.SIG_IGN):
            return
        self._handler_before = before
        signal.signal(signal.SIGIO, self._on_signal)
        signal.siginterrupt(signal.SIGIO, False)  # noqa: FBT003 - a C function
        self._signals = True
        with suppress(ImportError, AttributeError, OSError):
            import fcntl

            fcntl.fcntl(self._reading, fcntl.F_SETOWN, os.getpid())
            self._signal_writes(on=True)

    def _signal_writes(self, *, on: bool) -> None:
        import fcntl

        flags = fcntl.fcntl(self._reading, fcntl.F_GETFL)
        fcntl.fcntl(self._reading, fcntl.F_SETFL, flags | os.O_ASYNC if on else flags & ~os.O_ASYNC)

    def _end_signals(self) -> None:
        if not self._signals:
            return
        self._signals = False
        with suppress(ImportError, AttributeError, OSError):
            self._signal_writes(on=False)
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and _signal.getsignal(signal.SIGIO) == self._on_signal:
            signal.signal(signal.SIGIO, signal.SIG_IGN)  # discards one that is underway, which would end pi
            signal.signal(signal.SIGIO, self._handler_before)

    def _on_signal(self, _number: int, frame: FrameType | None) -> None:
        """Read what the main thread has written, before its code goes on; leave the output of others to the thread."""
        writers = self.writers
        with suppress(Exception):  # it would be raised in the code that was interrupted
            plugin = writers.on_stack(frame) if writers is not None else None
            if plugin is None:
                self._signal_writes(on=False)  # until it is quiet: a program may write much
                return
            if not self._lock.acquire(blocking=False):  # the thread has read it, and looks for who has written
                if self._signalled[-1:] != [plugin]:
                    self._signalled.append(plugin)
                return
            try:
                self._found.extend(([plugin], data) for data in iter(self._read, b""))
            finally:
                self._lock.release()
            self._wake()

    def _read(self) -> bytes:
        try:
            return os.read(self._reading, _READ_BYTES)
        except OSError:  # there is nothing
            return b""

    def _wake(self) -> None:
        with suppress(OSError):
            os.write(self._wake_write, b"\0")

    # The thread

    def _run(self) -> None:
        batch = _Batch()
        with selectors.DefaultSelector() as selector, suppress(OSError, ValueError):
            for each in (self._reading, self._wake_read):
                selector.register(each, selectors.EVENT_READ)
            while self._thread is threading.current_thread():
                if selector.select(None if batch.is_empty else _REST_SECONDS):
                    self._collect(batch)
                    batch.pass_on_if_late(self._take)
                else:
                    batch.pass_on(self._take)
                    self._signalled.clear()
                    if self._signals:
                        self._signal_writes(on=True)
            for _ in range(_PIPE_BYTES // _READ_BYTES):  # what was written before the end
                self._collect(batch)
            batch.pass_on(self._take)

    def _collect(self, batch: _Batch) -> None:
        with suppress(OSError):
            os.read(self._wake_read, _READ_BYTES)
        with self._lock:
            data = self._read()
            found, self._found = self._found, []
            if data:
                found.append((self._writers_of(), data))
        for who, part in found:
            batch.add(who, part)

    def _writers_of(self) -> list[str]:
        if self._signalled:
            return [self._signalled.pop(0)]
        return self.writers.candidates() if self.writers is not None else []


@define
class _Part:
    """What some plugin has written.

    Attributes:
        who: The plugins that may have written it.
        kept: What is passed on.
        left_out: Bytes that are counted only, as the end of a flood.
    """

    who: list[str]
    kept: bytes = b""
    left_out: int = 0

    def add(self, data: bytes, room: int) -> int:
        """Add what was written, and keep as much as there is room for; return how much that is."""
        self.kept += data[:room]
        self.left_out += max(len(data) - room, 0)
        return min(len(data), room)

    def text(self) -> str:
        """Return the lines to show."""
        text = self.kept.decode("utf-8", "replace").rstrip("\r\n")
        more = f"... {self.left_out:,} more bytes are left out" if self.left_out else ""
        return "\n".join(filter(None, (text, more)))


class _Batch:
    """Output that is passed on together; the flood of one plugin leaves room for what others write."""

    def __init__(self) -> None:
        self._parts: list[_Part] = []
        self._floods: dict[tuple[str, ...], _Part] = {}
        self._room: dict[tuple[str, ...], int] = {}
        self._since = 0.0

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to pass on."""
        return not self._parts

    def add(self, who: list[str], data: bytes) -> None:
        """Add what somebody has written."""
        if not self._parts:
            self._since = time.monotonic()
        key = tuple(who)
        part = self._floods.get(key)
        if part is None:
            if not self._parts or self._parts[-1].who != who:
                self._parts.append(_Part(who))
            part = self._parts[-1]
        room = self._room.get(key, _MOST_BYTES)
        self._room[key] = room - part.add(data, room)
        if part.left_out:
            self._floods[key] = part

    def pass_on_if_late(self, take: Callable[[list[str], str], object]) -> None:
        """Pass on whole lines of output that does not pause; what is left out is counted until it does."""
        if not self._parts or time.monotonic() - self._since < _LATE_SECONDS:
            return
        last = self._parts.pop()
        whole, _, rest = last.kept.rpartition(b"\n")
        given = [*(_Part(each.who, each.kept) for each in self._parts), _Part(last.who, whole)]
        counted = [_Part(each.who, left_out=each.left_out) for each in self._parts if each.left_out]
        self._parts = [*counted, _Part(last.who, rest, last.left_out)]
        self._floods = {tuple(each.who): each for each in self._parts if each.left_out}
        self._room = {who: room for who, room in self._room.items() if who in self._floods}
        self._since = time.monotonic()
        _give(given, take)

    def pass_on(self, take: Callable[[list[str], str], object]) -> None:
        """Pass on everything."""
        parts, self._parts, self._floods, self._room = self._parts, [], {}, {}
        _give(parts, take)


def _give(parts: list[_Part], take: Callable[[list[str], str], object]) -> None:
    for each in parts:
        if each.text():
            take(each.who, each.text())


_open: list[StrayOutput] = []


def give_terminal_back() -> None:
    """Give the terminal back to the shell, for code that ends the process at once."""
    for each in _open:
        each.restore()


def terminal_descriptor() -> int | None:
    """Return the terminal's descriptor while a front end reads what is written to stdout and stderr; else None."""
    return next((each.terminal for each in _open), None)


def _is_terminal(descriptor: int) -> bool:
    try:
        return os.isatty(descriptor)
    except OSError:
        return False


def _flush() -> None:
    for stream in (sys.__stdout__, sys.__stderr__):
        with suppress(OSError, ValueError, AttributeError, RuntimeError):  # it is being written to
            stream.flush()  # type: ignore[union-attr]

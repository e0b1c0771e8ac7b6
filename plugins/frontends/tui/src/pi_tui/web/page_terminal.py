"""A program in a pseudo-terminal whose output goes to a web page, and which receives what is typed there."""

from __future__ import annotations

import asyncio
import codecs
import os
import struct
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

__all__ = ["PageTerminal", "page_terminal"]

_CHUNK = 65536

_END_SECONDS = 10.0
"""Seconds that the program has to end after its page is closed."""

_OWN_TERMINAL = ': <"$0"; exec "$@"'
"""Opens the terminal before running the program, so that it becomes the controlling terminal of the new session."""


class PageTerminal:
    """The page's side of a terminal.

    Args:
        descriptor: File descriptor of the terminal.
        reader: Reads the program's output.
        writer: Writes the program's input.
    """

    def __init__(self, descriptor: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._descriptor = descriptor
        self._reader = reader
        self._writer = writer

    async def output(self) -> AsyncIterator[bytes]:
        """Yield the program's output in complete characters until the program has ended."""
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        with suppress(OSError):  # raised when the last program in the terminal has ended
            while data := await self._reader.read(_CHUNK):
                if text := decode(data):
                    yield text.encode()

    async def type(self, text: str) -> None:
        """Pass typed text to the program."""
        with suppress(OSError):
            self._writer.write(text.encode())
            await self._writer.drain()

    def resize(self, width: int, height: int) -> None:
        """Set the terminal's size, which notifies the program."""
        _set_size(self._descriptor, width, height)


@asynccontextmanager
async def page_terminal(command: Sequence[str], width: int, height: int) -> AsyncIterator[PageTerminal]:
    """Run a program in a terminal; at the end it receives SIGHUP, as when a terminal is closed.

    Args:
        command: The program and its arguments.
        width: Number of columns.
        height: Number of rows.
    """
    import pty

    ours, its = pty.openpty()
    _set_size(its, width, height)
    try:
        process = await asyncio.create_subprocess_exec(
            *("sh", "-c", _OWN_TERMINAL, os.ttyname(its), *command),
            stdin=its,
            stdout=its,
            stderr=its,
            env=_environment(),
            start_new_session=True,
        )
    finally:
        os.close(its)
    reader, input_, output = asyncio.StreamReader(), os.fdopen(ours, "rb", 0), os.fdopen(os.dup(ours), "wb", 0)
    loop = asyncio.get_running_loop()
    reading, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), input_)
    writing, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, output)
    writer = asyncio.StreamWriter(writing, protocol, None, loop)
    try:
        yield PageTerminal(ours, reader, writer)
    finally:
        writing.abort()
        reading.close()
        try:
            await asyncio.wait_for(process.wait(), _END_SECONDS)
        except TimeoutError:
            process.kill()
            await process.wait()


def _set_size(descriptor: int, width: int, height: int) -> None:
    import fcntl
    import termios

    with suppress(OSError, struct.error):  # the program has ended, or the page has no sensible size
        fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))


def _environment() -> dict[str, str]:
    """Return the program's environment, which describes the page's terminal instead of the one pi was started in."""
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "TERM_PROGRAM")}
    return {**kept, "TERM": "xterm-256color", "COLORTERM": "truecolor"}

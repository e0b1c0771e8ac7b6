"""The socket of a served session, accessible only to the user."""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from pi_client.framing import MAX_LINE, LineSplitter
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from pi_serve.server import SessionServer

__all__ = ["fits_socket", "listening"]

_CHUNK = 256 * 1024

_END_SECONDS = 10.0
"""Seconds for a client to receive the last lines."""

_MAX_PATH_BYTES = 100
"""Maximum bytes of a socket's path that every Unix supports."""


class StreamLink:
    """Sends lines over a stream.

    Args:
        writer: The stream to the client.
    """

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._transport = writer.transport

    @property
    def waiting(self) -> int:
        """The number of bytes that the client has not received yet."""
        return self._transport.get_write_buffer_size()

    def write(self, line: bytes) -> None:
        """Send a line without waiting."""
        if not self._transport.is_closing():
            self._transport.write(line + b"\n")

    def end(self, reason: str) -> None:
        """Close the connection once everything is written, or after ten seconds."""
        if self._transport.is_closing():
            return
        self._transport.close()
        asyncio.get_running_loop().call_later(_END_SECONDS, self._transport.abort)


async def _lines(reader: asyncio.StreamReader) -> AsyncIterator[bytes | None]:
    splitter = LineSplitter(MAX_LINE)
    with suppress(ConnectionError):
        while chunk := await reader.read(_CHUNK):
            for line in splitter.feed(chunk):
                yield line
    for line in splitter.end():
        yield line


def fits_socket(path: Path) -> bool:
    """Whether a path is short enough for a socket."""
    return len(os.fsencode(path)) <= _MAX_PATH_BYTES


@asynccontextmanager
async def listening(server: SessionServer, path: Path) -> AsyncIterator[None]:
    """Serve clients of a socket inside this context.

    Raises:
        UserError: The socket cannot be created.
    """
    if not hasattr(socket, "AF_UNIX"):
        raise UserError("pi serve needs Unix sockets, which this system does not have. Run it inside WSL")
    if not fits_socket(path):
        raise UserError(
            f"The path of a socket can have at most {_MAX_PATH_BYTES} bytes, but {str(path)!r} has more. Use --socket"
        )

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        link = StreamLink(writer)
        try:
            await server.handle_connection(link, _lines(reader))
        finally:
            link.end("")

    try:
        listener = await asyncio.start_unix_server(connected, sock=_bound(path))
    except OSError as error:
        raise UserError(f"The socket {str(path)!r} cannot be created: {error.strerror or error}") from error
    try:
        yield
    finally:
        listener.close()
        with suppress(OSError):
            os.unlink(path)  # noqa: PTH108 - inside an event loop


def _bound(path: Path) -> socket.socket:
    """Return a socket that only the user can access; the umask is restored before other code of this process runs."""
    made = socket.socket(socket.AF_UNIX)
    before = os.umask(0o177)
    try:
        made.bind(os.fspath(path))
    except OSError:
        made.close()
        raise
    finally:
        os.umask(before)
    return made

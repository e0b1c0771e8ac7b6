"""Lines of JSON over two descriptors."""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

__all__ = ["Pipe"]


class Pipe:
    """Lines to and from pi.

    Args:
        reader: What pi sends.
        writer: What it gets.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def connect(cls, incoming: int, outgoing: int) -> Pipe:
        """Return the pipe over two descriptors."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=64 << 20)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(incoming, "rb", 0))
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), os.fdopen(outgoing, "wb", 0)
        )
        return cls(reader, asyncio.StreamWriter(transport, protocol, None, loop))

    async def __aiter__(self) -> AsyncIterator[dict[str, Any]]:
        """Yield what pi sends until it closes the pipe."""
        while line := await self._reader.readline():
            yield json.loads(line)

    def send(self, message: dict[str, Any]) -> None:
        """Send a line to pi, which always reads."""
        self._writer.write(json.dumps(message, ensure_ascii=True).encode() + b"\n")

    async def drain(self) -> None:
        """Wait until pi has taken enough of what was sent."""
        await self._writer.drain()

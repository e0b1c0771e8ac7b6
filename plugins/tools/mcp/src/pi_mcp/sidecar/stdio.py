"""A server that is a program: its output is limited before the SDK reads it, and its child processes end with it."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import anyio
from mcp.shared.message import SessionMessage

from pi_hookspecs import SpawnRequest
from pi_mcp.sidecar.checked import MESSAGE_LIMIT, Trouble, checked, parsed_message
from pi_process_kit import start_child

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pi_process_kit import Child

__all__ = ["StdioServer"]

_TAIL = 64 << 10
_CHUNK = 1 << 16
_END_SECONDS = 2.0
"""How long a server that has closed its standard output has to end, before it counts as one that goes on."""


class StdioServer:
    """The transport of one program.

    Args:
        name: The server's name, for the log.
        spawn: ``argv``, ``cwd`` and ``env``.
        trouble: Keeps why the connection ended.

    Attributes:
        tail: The end of what it printed to standard error.
    """

    def __init__(self, name: str, spawn: dict[str, Any], trouble: Trouble) -> None:
        self._request = SpawnRequest(**spawn, purpose="mcp")
        self._trouble = trouble
        self._log = logging.getLogger(f"server.{name}")
        self.tail = bytearray()

    @asynccontextmanager
    async def transport(self) -> AsyncIterator[tuple[Any, Any]]:
        """Start the program, and end it and all its descendants."""
        child = await start_child(self._request)
        incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        sent, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        tasks = [
            asyncio.create_task(self._read(child, incoming)),
            asyncio.create_task(self._write(child, outgoing)),
            asyncio.create_task(self._keep_errors(child)),
        ]
        try:
            yield checked(received, sent)
        finally:
            with anyio.CancelScope(shield=True):
                sent.close()
                received.close()
                await child.stop()
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks, timeout=1)

    async def _read(self, child: Child, incoming: Any) -> None:
        """Pass complete lines on; the rest of one that is too long is never kept."""
        pieces: list[bytes] = []
        size = 0
        try:
            while chunk := await child.stdout.read(_CHUNK):
                *lines, rest = chunk.split(b"\n")
                for line in lines:
                    await self._deliver(b"".join([*pieces, line]), incoming)
                    pieces, size = [], 0
                pieces.append(rest)
                size += len(rest)
                if size > MESSAGE_LIMIT:
                    self._trouble.happened(f"it sent a message of more than {MESSAGE_LIMIT >> 20} MB")
                    child.kill()
                    return
            if not self._trouble.reason:
                self._trouble.happened(await self._ending(child))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
            pass  # the connection is being closed
        finally:
            incoming.close()
            self._trouble.happened("the connection ended")

    async def _ending(self, child: Child) -> str:
        with suppress(TimeoutError):
            return f"it ended with code {await asyncio.wait_for(child.wait(), _END_SECONDS)}"
        return "it closed its standard output"

    async def _deliver(self, line: bytes, incoming: Any) -> None:
        text = line.decode("utf-8", "replace").strip().removeprefix("\ufeff")
        if not text:
            return
        try:
            message = parsed_message(text)
        except (ValueError, RecursionError):  # a line that was meant for a person
            self._note(line[:2000] + b"\n")
            return
        await incoming.send(SessionMessage(message))

    async def _write(self, child: Child, outgoing: Any) -> None:
        try:
            async for each in outgoing:
                child.stdin.write(each.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                await child.stdin.drain()
        except (anyio.ClosedResourceError, OSError) as error:
            self._log.info("cannot be written to: %s", error)

    async def _keep_errors(self, child: Child) -> None:
        assert child.stderr is not None  # noqa: S101 - it was piped
        while chunk := await child.stderr.read(_CHUNK):
            self._note(chunk)

    def _note(self, printed: bytes) -> None:
        self.tail += printed
        del self.tail[:-_TAIL]
        self._log.info("%s", printed.decode("utf-8", "replace").rstrip())

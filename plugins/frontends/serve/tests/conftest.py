"""A served session of the scripted model, and clients of its socket."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest_asyncio

from pi_core import SessionManager, create_agent_session
from pi_serve.server import SessionServer
from pi_serve.unix_socket import listening
from pi_testing.patience import PATIENCE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path


class Member:
    """A client that keeps every line."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.lines: list[dict[str, Any]] = []
        self.writer = writer
        self._reader = reader
        self._held = b""

    def send(self, **line: Any) -> None:
        self.writer.write(json.dumps(line).encode() + b"\n")

    async def receive(self) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            line = json.loads(await self._line())
        self.lines.append(line)
        return line

    async def _line(self) -> bytes:
        while b"\n" not in self._held:
            chunk = await self._reader.read(2**16)
            assert chunk, "the server has closed the connection"
            self._held += chunk
        line, _, self._held = self._held.partition(b"\n")
        return line

    async def until(self, wanted: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        while not wanted(line := await self.receive()):
            pass
        return line

    async def event(self, kind: str) -> dict[str, Any]:
        return await self.until(lambda line: line["type"] == kind)

    async def call(self, kind: str, **fields: Any) -> dict[str, Any]:
        self.send(id=kind, type=kind, **fields)
        return await self.until(lambda line: line["type"] == "response" and line.get("id") == kind)

    def entries(self) -> list[dict[str, Any]]:
        """Return the entries as a client has them that starts again at the entry that the server names."""
        known: dict[str, dict[str, Any]] = {}
        for line in self.lines:
            if line["type"] == "entries":
                if line.get("reset"):
                    known.clear()
                known |= {each["id"]: each for each in line["entries"]}
        return [*known.values()]

    def close(self) -> None:
        self.writer.close()


class Served:
    """A server with its socket."""

    def __init__(self, server: SessionServer, session: Any, path: Path) -> None:
        self.server = server
        self.session = session
        self.path = path
        self.members: list[Member] = []

    async def connect(self) -> Member:
        self.members.append(Member(*await asyncio.open_unix_connection(str(self.path), limit=2**16)))
        return self.members[-1]

    async def until_left(self) -> None:
        """Wait until the server has noticed that all clients are gone."""
        async with asyncio.timeout(PATIENCE):
            while self.server.has_clients:  # noqa: ASYNC110 - the server announces it to nobody
                await asyncio.sleep(0.01)

    async def join(self, **hello: Any) -> Member:
        member = await self.connect()
        member.send(type="hello", **hello)
        assert (await member.receive())["type"] == "hello", member.lines
        return member


@pytest_asyncio.fixture
async def served(tmp_path, socket_path, script, pi_host, pi_options) -> AsyncIterator[Served]:
    cwd = tmp_path / "work"
    cwd.mkdir()
    session = create_agent_session(
        cwd=cwd,
        host=pi_host,
        settings=pi_host.settings,
        model=script.model,
        plugins={"script": script},
        session_manager=SessionManager.create(cwd, tmp_path / "sessions", host=pi_host),
        tools=pi_options.tool_names,
        custom_tools=pi_options.custom_tools,
        mode="serve",
    )
    server = SessionServer(session)
    session.ui, session.has_ui = server.ui, True
    async with listening(server, socket_path):
        started = asyncio.Event()
        session.subscribe(lambda *_: started.set(), "session_start")
        serving = asyncio.create_task(server.serve())
        await started.wait()
        await asyncio.sleep(0)
        found = Served(server, session, socket_path)
        yield found
        server.end(0)
        await asyncio.wait([serving], timeout=PATIENCE)
        for member in found.members:
            member.writer.transport.abort()
        await asyncio.sleep(0.01)
        serving.result()

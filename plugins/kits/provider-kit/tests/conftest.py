"""A server on the loopback interface that says exactly the bytes a test gives it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress

import pytest

from pi_hookspecs import Model, StreamOptions
from pi_provider_kit import Http

SSE_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


class Wire:
    """One connection, as a script sees it."""

    def __init__(self, reader, writer):
        self.reader = reader
        self.writer = writer

    async def send(self, *pieces):
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()

    async def events(self, *payloads, end=True):
        """Answer with one HTTP chunk per payload."""
        await self.send(SSE_HEAD, *(chunk(b"data: %s\n\n" % payload) for payload in payloads))
        if end:
            await self.send(b"0\r\n\r\n")

    async def whole(self, status, body, *headers):
        """Answer with a body of known length."""
        lines = [b"HTTP/1.1 %s" % status, b"content-length: %d" % len(body), *headers]
        await self.send(b"\r\n".join(lines) + b"\r\n\r\n" + body)

    def cut(self):
        """End the connection in the midst of things."""
        self.writer.transport.abort()

    def end(self):
        self.writer.close()

    async def silence(self):
        """Keep the connection and say nothing until the client goes."""
        with suppress(ConnectionError):
            await self.reader.read()


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


class Server:
    """What the script of a test was asked."""

    def __init__(self, script):
        self.script = script
        self.url = ""
        self.port = 0
        self.connections = 0
        self.requests = []

    @property
    def bodies(self):
        return [body for _, body in self.requests]

    def headers(self, number=-1):
        lines = self.requests[number][0].split(b"\r\n")[1:]
        return {name.lower(): value for name, _, value in (line.decode().partition(": ") for line in lines if line)}

    async def serve(self, reader, writer):
        self.connections += 1
        wire = Wire(reader, writer)
        try:
            while not writer.is_closing():
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    (
                        int(line.split(b":")[1])
                        for line in head.lower().split(b"\r\n")
                        if line.startswith(b"content-length:")
                    ),
                    0,
                )
                self.requests.append((head, await reader.readexactly(length)))
                await self.script(wire)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@pytest.fixture
async def serve():
    """``async with serve(script, ssl=None) as server``; ``script(wire)`` answers each request."""

    @asynccontextmanager
    async def running(script, ssl=None):
        server = Server(script)
        tasks, writers = [], []

        def client(reader, writer):  # no coroutine: one that is cancelled before its first step would close nothing
            writers.append(writer)
            tasks.append(asyncio.ensure_future(server.serve(reader, writer)))

        listening = await asyncio.start_server(client, "127.0.0.1", 0, ssl=ssl)
        server.port = listening.sockets[0].getsockname()[1]
        server.url = f"{'https' if ssl else 'http'}://localhost:{server.port}/v1/messages"
        try:
            yield server
        finally:
            listening.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for writer in writers:
                writer.close()

    return running


@pytest.fixture
async def http():
    http = Http()
    yield http
    await http.aclose()


@pytest.fixture
def model():
    return Model(id="m1", name="M1", api="acme", provider="acme", base_url="https://api.acme.test/v1")


@pytest.fixture
def options():
    return StreamOptions(api_key="sk-secret-1234567890")


@pytest.fixture(autouse=True)
def _direct(monkeypatch):
    for name in ("http", "https", "all", "no"):
        monkeypatch.delenv(f"{name}_proxy", raising=False)
        monkeypatch.delenv(f"{name.upper()}_PROXY", raising=False)

"""Base of the fake model servers: HTTP/1.1 on the loopback interface, scripted answers, recorded requests.

A module per API builds on it: a subclass of ``FakeServer`` that overrides ``refusal`` (what the real server refuses)
and ``error`` (how it words that), and functions that return an ``Answer`` for a whole message of that API.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections import deque
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias
from urllib.parse import urlsplit

from attrs import Factory, define, evolve, field, frozen

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterable, Mapping
    from types import TracebackType

__all__ = [
    "Answer",
    "FakeServer",
    "Request",
    "closed_url",
    "html_page",
    "json_answer",
    "redirect",
    "silence",
    "sse",
    "sse_event",
]


_DRIP_SECONDS = 0.01


@define(eq=False)
class Request:
    """A request of a client.

    Attributes:
        path: Without the query.
        query: What follows the ``?``, empty if nothing does.
        headers: Names in lower case.
        client_left: Set when the client closed the connection before the answer was complete.
    """

    method: str
    path: str
    query: str
    headers: dict[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    client_left: asyncio.Event = field(factory=asyncio.Event, repr=False)

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body)


@frozen(kw_only=True)
class Answer:
    """The server's answer to one request.

    Attributes:
        pieces: The body, one HTTP chunk each. At an ``asyncio.Event`` the server waits until a test sets it.
        ending: ``whole`` ends the body as HTTP asks; ``cut`` closes the connection instead; ``stall`` keeps it and
            sends nothing more until the client disconnects.
        silent: The request is read and never answered, not even with a status.
        drip: What an answer that stalls goes on with, again and again until the client leaves: pings, or the bytes of
            something that never ends. A silent answer with it has headers that never end.
    """

    status: int = 200
    headers: Mapping[str, str] = Factory(dict)
    pieces: tuple[bytes | asyncio.Event, ...] = field(default=(), repr=False)
    ending: Literal["whole", "cut", "stall"] = "whole"
    silent: bool = False
    drip: bytes = field(default=b"", repr=False)

    @property
    def body(self) -> bytes:
        """All bytes of the body."""
        return b"".join(piece for piece in self.pieces if isinstance(piece, bytes))

    def in_pieces(self, size: int) -> Answer:
        """Return the same body in HTTP chunks of ``size`` bytes, wherever that cuts."""
        body = self.body
        return evolve(self, pieces=tuple(body[start : start + size] for start in range(0, len(body), size)))

    def cut(self, after: int | bytes | None = None) -> Answer:
        """Return an answer whose connection closes after so many bytes, behind that text, or at its end."""
        return evolve(self, pieces=self._until(after), ending="cut")

    def stalled(self, after: int | bytes | None = None, *, drip: bytes = b"") -> Answer:
        """Return an answer that sends nothing more after so many bytes, behind that text, or at its end.

        Args:
            after: Where it stalls.
            drip: What it keeps sending nevertheless.
        """
        return evolve(self, pieces=self._until(after), ending="stall", drip=drip)

    def with_headers(self, **headers: str) -> Answer:
        """Return the answer with more headers; ``_`` in a name becomes ``-``."""
        return evolve(self, headers={**self.headers, **{name.replace("_", "-"): headers[name] for name in headers}})

    def _until(self, after: int | bytes | None) -> tuple[bytes | asyncio.Event, ...]:
        if after is None:
            return self.pieces
        body = self.body
        end = after if isinstance(after, int) else body.index(after) + len(after)
        return (body[:end],)


Script: TypeAlias = "Answer | Callable[[Request], Answer]"
"""One answer, or what makes it of the request."""


def sse_event(data: Any, name: str | None = None) -> bytes:
    """Return one server-sent event; ``data`` is sent as JSON, a string or bytes as they are.

    Half of a character, which UTF-8 does not have, is escaped.
    """
    if not isinstance(data, bytes):
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        data = text.encode("utf-8", "backslashreplace")
    return b"".join((b"event: %s\n" % name.encode() if name else b"", b"data: ", data, b"\n\n"))


def sse(events: Iterable[bytes], **headers: str) -> Answer:
    """Return an answer that is a stream of events, one HTTP chunk each."""
    answer = Answer(headers={"content-type": "text/event-stream; charset=utf-8"}, pieces=tuple(events))
    return answer.with_headers(**headers)


def json_answer(status: int, value: Any, **headers: str) -> Answer:
    """Return an answer whose body is JSON."""
    answer = Answer(status=status, headers={"content-type": "application/json"}, pieces=(json.dumps(value).encode(),))
    return answer.with_headers(**headers)


def html_page(status: int, title: str) -> Answer:
    """Return the response of a proxy in front of the API that has an error of its own."""
    page = f"<html><head><title>{title}</title></head><body><h1>{title}</h1><hr>nginx</body></html>"
    return Answer(status=status, headers={"content-type": "text/html"}, pieces=(page.encode(),))


def redirect(location: str, status: int = 307) -> Answer:
    """Return an answer that sends the client elsewhere."""
    return Answer(status=status, headers={"location": location})


def silence(*, drip: bytes = b"") -> Answer:
    """Return no answer: the request is read, and nothing comes, or headers without an end (``drip``)."""
    return Answer(silent=True, drip=drip)


def closed_url() -> str:
    """Return a URL at which nothing answers: connections are refused."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


class FakeServer:
    """An HTTP server that runs while its ``async with`` does.

    Args:
        tls: Makes it an https server.
        check: Whether requests that the API would refuse are refused; off for hosts with rules of their own.

    Attributes:
        requests: What clients asked, in order; refused requests too.
        check: As given; ``refusal`` of a subclass reads it.
    """

    def __init__(self, *, tls: ssl.SSLContext | None = None, check: bool = True) -> None:
        self.check = check
        self.requests: list[Request] = []
        self._script: deque[Script] = deque()
        self._tls = tls
        self._port = 0
        self._listening: asyncio.Server | None = None
        self._clients: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """Scheme, host and port; the base URL of a provider is made of it."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self._port}"

    @property
    def request(self) -> Request:
        """The latest request."""
        return self.requests[-1]

    def answers(self, *answers: Script) -> Self:
        """Add the answers to the next requests, one each."""
        self._script.extend(answers)
        return self

    def refusal(self, request: Request) -> Answer | None:
        """Return how the real server refuses such a request; None if it would accept it. For subclasses."""
        return None

    def error(self, status: int, message: str) -> Answer:
        """Return an error in the API's own form. For subclasses."""
        return json_answer(status, {"error": message})

    async def answer_to(self, request: Request) -> Answer:
        """Return the answer: a refusal, else the next one of the script. For subclasses."""
        refusal = self.refusal(request)
        if refusal is not None:
            return refusal
        if not self._script:
            return self.error(500, f"The test has no answer for request {len(self.requests)}")
        scripted = self._script.popleft()
        return scripted if isinstance(scripted, Answer) else scripted(request)

    async def __aenter__(self) -> Self:
        self._listening = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        self._port = self._listening.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._listening is not None:
            self._listening.close()
        for client in self._clients:
            client.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)

    # One connection

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._clients.add(task)
            task.add_done_callback(self._clients.discard)
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
                while await self._exchange(reader, writer):
                    pass
        finally:
            writer.close()
            with suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; return whether the connection serves another."""
        request = await _read_request(reader)
        self.requests.append(request)
        answer = await self.answer_to(request)
        try:
            await _write(answer, writer)
            if answer.silent or answer.ending == "stall":
                dripping = asyncio.create_task(_drip(answer, writer))
                await reader.read(1)  # a client that waits sends nothing: this ends when it leaves
                request.client_left.set()
                dripping.cancel()
        except ConnectionError:
            request.client_left.set()
            raise
        return not answer.silent and answer.ending == "whole"


async def _read_request(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip("\r\n").split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    parts = urlsplit(target)
    return Request(method, parts.path, parts.query, headers, body)


async def _drip(answer: Answer, writer: asyncio.StreamWriter) -> None:
    """Continue with an empty answer."""
    chunk = answer.drip if answer.silent else b"%x\r\n%s\r\n" % (len(answer.drip), answer.drip)
    with suppress(ConnectionError):
        while answer.drip:
            writer.write(chunk)
            await writer.drain()
            await asyncio.sleep(_DRIP_SECONDS)


async def _write(answer: Answer, writer: asyncio.StreamWriter) -> None:
    if answer.silent:
        if answer.drip:
            writer.write(b"HTTP/1.1 200 OK\r\n")
        return
    reason = HTTPStatus(answer.status).phrase if answer.status in _KNOWN else "Unknown"
    lines = [f"HTTP/1.1 {answer.status} {reason}", *(f"{name}: {value}" for name, value in answer.headers.items())]
    writer.write("\r\n".join([*lines, "transfer-encoding: chunked", "", ""]).encode("latin-1"))
    for piece in answer.pieces:
        if isinstance(piece, asyncio.Event):
            await piece.wait()
        elif piece:
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await writer.drain()
    if answer.ending == "whole":
        writer.write(b"0\r\n\r\n")
    await writer.drain()


_KNOWN = frozenset(HTTPStatus)

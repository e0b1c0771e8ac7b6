"""Sessions as an ASGI application, which FastAPI, Starlette and others mount; who may do what, their program decides.

A client lists, opens and closes sessions of its user with plain requests, and sends commands with them. It follows a
session over a WebSocket or server-sent events, in the protocol of ``pi serve``: events have the id of the last entry,
so that a browser's ``EventSource`` continues where it was interrupted.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import parse_qs, urlsplit

from attrs import define, field

from pi_client.commands import COMMANDS
from pi_client.framing import MAX_LINE
from pi_core import dumps
from pi_hookspecs import PiError
from pi_serve.openapi import description
from pi_serve.queue_link import QueueLink
from pi_serve.server import SessionServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from pi_core import AgentSession
    from pi_hookspecs import Touch

__all__ = ["SAFE_COMMANDS", "SessionsApp"]

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]

SAFE_COMMANDS = frozenset(COMMANDS) - {"bash", "abort_bash", "switch_session", "export_html"}
"""The commands that concern the session alone: the others run programs, or read and write files of any name."""

_REFUSED_SECONDS = 1.0
"""Seconds before a visitor whom the program does not know gets an answer."""

_ALIVE_SECONDS = 20.0
"""Seconds between comments in a stream of events, with which proxies and half-open connections are noticed."""

_MAX_SESSIONS = 50
_IDLE_SECONDS = 3600.0
_BAD_REQUEST, _UNKNOWN, _FORBIDDEN, _NOT_FOUND, _WRONG_METHOD, _TOO_LARGE, _TOO_MANY = 400, 401, 403, 404, 405, 413, 429


@define
class _Served:
    """A session that is served, and its user."""

    user: str
    server: SessionServer
    serving: asyncio.Task[int]
    streams: dict[str, asyncio.Queue[bytes | None]] = field(factory=dict)


class _Problem(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class SessionsApp:
    """An ASGI application with the sessions of many users.

    Args:
        authorize: Gets the ASGI scope of a request, returns the user's name, or None for a visitor who may not use it;
            plain or ``async``. A user has access to no session of another one.
        create: Gets the user's name and the id of a stored session, or None for a new one, and returns the session, not
            started yet; plain or ``async``. A ``UserError`` is answered with its text.
        commands: The commands that clients may send; by default those that concern the session alone.
        touches: What slash commands in prompts may touch besides the conversation (``Command.touches``). By default
            nothing, because all users share the computer and its settings; None permits all commands.
        origins: Origins of pages that may connect besides those of the server's own host: ``https://app.example``.
        max_sessions: Open sessions of a user.
        idle_seconds: Seconds without a client and without work after which a session is closed; None closes none.
    """

    def __init__(
        self,
        authorize: Callable[[Scope], str | Awaitable[str | None] | None],
        create: Callable[[str, str | None], AgentSession | Awaitable[AgentSession]],
        *,
        commands: Collection[str] = SAFE_COMMANDS,
        touches: Sequence[Touch] | None = (),
        origins: Collection[str] = (),
        max_sessions: int = _MAX_SESSIONS,
        idle_seconds: float | None = _IDLE_SECONDS,
    ) -> None:
        self._authorize = authorize
        self._create = create
        self._commands = frozenset(commands)
        self._touches = touches
        self._origins = frozenset(origins)
        self._max_sessions = max_sessions
        self._idle_seconds = idle_seconds
        self._sessions: dict[str, _Served] = {}
        self._opening: dict[str, int] = {}
        self._starting: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, a WebSocket, or the lifespan of the server."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        elif scope["type"] == "http":
            try:
                await self._request(scope, receive, send)
            except _Problem as problem:
                await _respond(send, problem.status, {"error": str(problem)})

    async def close(self) -> None:
        """Close all sessions. Servers call it at their end; a program that mounts the application calls it itself."""
        served = [*self._sessions.values()]
        for each in served:
            each.server.end(0)
        await asyncio.gather(*(each.serving for each in served), return_exceptions=True)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            kind = (await receive())["type"]
            if kind == "lifespan.shutdown":
                await self.close()
            await send({"type": f"{kind}.complete"})
            if kind == "lifespan.shutdown":
                return

    # Who and where

    async def _user(self, scope: Scope) -> str:
        """Return the user of a request.

        Raises:
            _Problem: The program does not know the visitor, or the request comes from a page of another site.
        """
        origin = _header(scope, b"origin")
        if origin and origin not in self._origins and urlsplit(origin).netloc != _header(scope, b"host"):
            raise _Problem(_FORBIDDEN, f"Pages of {origin!r} may not connect")
        found = self._authorize(scope)
        user = await found if inspect.isawaitable(found) else found
        if user is None:
            await asyncio.sleep(_REFUSED_SECONDS)
            raise _Problem(_UNKNOWN, "You are not signed in, or may not use this")
        return user

    def _served(self, user: str, session: str) -> _Served:
        served = self._sessions.get(session)
        if served is None or served.user != user:
            raise _Problem(_NOT_FOUND, f"You have no open session {session!r}")
        return served

    # Requests

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        user = await self._user(scope)
        method = scope["method"]
        match _path(scope), method:
            case ["openapi.json"], "GET":
                await _respond(send, 200, description(scope.get("root_path", ""), sorted(self._commands)))
            case ["sessions"], "GET":
                own = [name for name, each in self._sessions.items() if each.user == user]
                await _respond(send, 200, {"sessions": own})
            case ["sessions"], "POST":
                session = await self._open(user, await _json_body(receive))
                await _respond(send, 201, {"session": session})
            case ["sessions", session], "DELETE":
                served = self._served(user, session)
                served.server.end(0)
                await asyncio.wait([served.serving])
                await _respond(send, 204, None)
            case ["sessions", session, "commands"], "POST":
                await self._command(self._served(user, session), scope, receive, send)
            case ["sessions", session, "events"], "GET":
                await self._events(self._served(user, session), scope, receive, send)
            case ((["openapi.json"] | ["sessions"] | ["sessions", _] | ["sessions", _, "commands" | "events"]), _):
                raise _Problem(_WRONG_METHOD, f"{method} is not possible here")
            case _:
                raise _Problem(_NOT_FOUND, f"There is no {scope['path']!r}")

    async def _open(self, user: str, wishes: dict[str, Any]) -> str:
        stored = wishes.get("session")
        if stored is not None and not isinstance(stored, str):
            raise _Problem(_BAD_REQUEST, f"Field 'session' must be the id of a stored session, not {stored!r}")
        count = sum(each.user == user for each in self._sessions.values()) + self._opening.get(user, 0)
        if count >= self._max_sessions:
            raise _Problem(_TOO_MANY, f"You have {count} open sessions, which is the limit. Close one of them")
        self._opening[user] = self._opening.get(user, 0) + 1
        try:
            return await self._begin(user, stored)
        except PiError as error:
            raise _Problem(_BAD_REQUEST, str(error)) from error
        finally:
            self._opening[user] -= 1

    async def _begin(self, user: str, stored: str | None) -> str:
        found = self._create(user, stored)
        session = await found if inspect.isawaitable(found) else found
        name = session.session_id
        is_open_as = next((key for key, each in self._sessions.items() if each.server.session_id == name), None)
        if is_open_as or name in self._sessions or name in self._starting:
            await session.dispose()
            served = self._served(user, is_open_as or name)
            if served.server.session_id != name:
                why = f"{served.server.session_id!r} has replaced it and is open under its name. Close that one first"
                raise _Problem(_BAD_REQUEST, f"Session {name!r} cannot be opened: {why}")
            return is_open_as or name
        self._starting.add(name)
        try:
            await self._start(user, session)
        finally:
            self._starting.discard(name)
        return name

    async def _start(self, user: str, session: AgentSession) -> None:
        name = session.session_id
        server = SessionServer(session, commands=self._commands, idle_seconds=self._idle_seconds)
        session.ui, session.has_ui = server.ui, True
        session.limit_commands(self._touches)
        try:
            await session.start()
        except BaseException:
            await session.dispose()
            raise
        serving = asyncio.create_task(server.serve())
        self._sessions[name] = _Served(user, server, serving)
        serving.add_done_callback(lambda _: self._sessions.pop(name, None))

    async def _command(self, served: _Served, scope: Scope, receive: Receive, send: Send) -> None:
        body = await _body(receive)
        stream = _query(scope, "stream")
        if stream is None:
            await _respond(send, 200, await served.server.execute(body))
            return
        if stream not in served.streams:
            raise _Problem(_NOT_FOUND, f"There is no stream {stream!r}; the first event of a stream contains its name")
        await served.streams[stream].put(body)
        await _respond(send, 202, {})

    # Streams

    async def _events(self, served: _Served, scope: Scope, receive: Receive, send: Send) -> None:
        since = _query(scope, "since") or _header(scope, b"last-event-id") or None
        role = _query(scope, "role") or "control"
        hello = dumps({"type": "hello", "role": role, **({"since": since} if since else {})})
        lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        lines.put_nowait(hello)
        name = f"{id(lines):x}"
        served.streams[name] = lines
        head = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store"), (b"x-accel-buffering", b"no")]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send(_part(b"event: stream\ndata: " + dumps({"stream": name}) + b"\n\n"))

        async def deliver(line: bytes | None) -> None:
            await send(_part(b": alive\n\n" if line is None else _event(line)))

        async def until_gone() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            lines.put_nowait(None)

        gone = asyncio.create_task(until_gone())
        try:
            await _attend(served.server, _queued(lines), deliver, lambda: lines.put_nowait(None))
        finally:
            gone.cancel()
            del served.streams[name]
        with suppress(OSError):
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        try:
            user = await self._user(scope)
            match _path(scope):
                case ["sessions", session, "socket"]:
                    served = self._served(user, session)
                case _:
                    raise _Problem(_NOT_FOUND, f"There is no {scope['path']!r}")  # noqa: TRY301 - as the others
        except _Problem as problem:
            await send({"type": "websocket.accept"})  # else servers answer 403, and the client gets no code
            await send({"type": "websocket.close", "code": 4000 + problem.status, "reason": str(problem)[:120]})
            return
        await send({"type": "websocket.accept"})

        async def deliver(line: bytes | None) -> None:
            if line is not None:
                await send({"type": "websocket.send", "text": line.decode()})

        async def end() -> None:
            with suppress(OSError, RuntimeError):  # the client has closed it already
                await send({"type": "websocket.close", "code": 1000})

        closing: list[asyncio.Task[None]] = []
        await _attend(served.server, _messages(receive), deliver, lambda: closing.append(asyncio.create_task(end())))
        await asyncio.gather(*closing)


async def _attend(
    server: SessionServer,
    lines: AsyncIterator[bytes | None],
    deliver: Callable[[bytes | None], Awaitable[None]],
    end: Callable[[], object],
) -> None:
    """Serve a connection until its last line.

    Args:
        server: The server of the session.
        lines: The lines of the client.
        deliver: Sends a line to the client; None at intervals without one.
        end: Called when the server ends the connection and everything is delivered; it ends ``lines``.
    """
    link = QueueLink(_ALIVE_SECONDS)
    pump = asyncio.create_task(link.pump(deliver, end))
    try:
        await server.handle_connection(link, lines)
    finally:
        link.end("")
        await asyncio.wait([pump], timeout=_ALIVE_SECONDS)
        pump.cancel()


async def _queued(lines: asyncio.Queue[bytes | None]) -> AsyncIterator[bytes | None]:
    while (line := await lines.get()) is not None:
        yield line


async def _messages(receive: Receive) -> AsyncIterator[bytes | None]:
    """Yield the lines of a WebSocket; None for one that is too long."""
    while (message := await receive())["type"] == "websocket.receive":
        data = message.get("bytes") or (message.get("text") or "").encode()
        if len(data) > MAX_LINE:
            yield None
            continue
        for line in data.splitlines() or [b""]:
            yield line


def _event(line: bytes) -> bytes:
    """Return a line as an event; one with entries has the id of the last of them."""
    number = b""
    if line.startswith(b'{"type":"entries"'):
        entries = json.loads(line)["entries"]
        number = f"id: {entries[-1]['id']}\n".encode() if entries else b""
    return number + b"data: " + line + b"\n\n"


def _part(body: bytes) -> dict[str, Any]:
    return {"type": "http.response.body", "body": body, "more_body": True}


async def _respond(send: Send, status: int, value: object) -> None:
    """Send a response with a value as JSON, or bytes that are JSON already; None has no body."""
    body = value if isinstance(value, bytes) else b"" if value is None else json.dumps(value).encode()
    head = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
    head += [(b"content-length", str(len(body)).encode()), (b"x-content-type-options", b"nosniff")]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": body})


async def _body(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Problem(_BAD_REQUEST, "The request was not received completely")
        body += message.get("body", b"")
        if len(body) > MAX_LINE:
            raise _Problem(_TOO_LARGE, f"The request has more than {MAX_LINE} bytes")
        if not message.get("more_body"):
            return bytes(body)


async def _json_body(receive: Receive) -> dict[str, Any]:
    try:
        value = json.loads(await _body(receive) or b"{}")
    except (ValueError, RecursionError) as error:
        raise _Problem(_BAD_REQUEST, f"The request is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise _Problem(_BAD_REQUEST, f"The request must be a JSON object, not {value!r}")
    return value


def _path(scope: Scope) -> list[str]:
    """Return the parts of the path below the one at which the application is mounted."""
    return [*filter(None, scope["path"].removeprefix(scope.get("root_path", "")).split("/"))]


def _header(scope: Scope, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name), "")


def _query(scope: Scope, name: str) -> str | None:
    values = parse_qs(scope.get("query_string", b"").decode("latin-1")).get(name)
    return values[0] if values else None

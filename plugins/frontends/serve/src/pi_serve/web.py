"""A served session in a browser: a WebSocket and a page on a local port, accessible only with the token."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from pi_client import served_sessions
from pi_client.framing import MAX_LINE
from pi_core import LocalGate
from pi_hookspecs import PiError, UserError
from pi_html_kit.assets import CODE_SCRIPT, CONTENT_STYLE, asset

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from websockets.asyncio.server import ServerConnection
    from websockets.datastructures import Headers
    from websockets.http11 import Request, Response

    from pi_serve.server import SessionServer

__all__ = ["web_server"]

_HOST = "127.0.0.1"
_REFUSED_SECONDS = 1.0
"""Seconds before a request with a wrong token is answered."""

_OPEN_SECONDS = 10.0
"""Seconds to wait for a request before the connection is closed."""

_MAX_CONNECTIONS = 200
"""Open connections, with and without a request: more would use up the files that the process may open."""

_PING_SECONDS = 20.0
"""Seconds between pings, and the timeout of a ping: a client whose computer is unreachable is dropped."""

_BEHIND_A_PROXY = (
    "Behind a proxy of your own, pi serve needs its address with --url, and the proxy has to forward the Host header\n"
)

_PAGE = {
    "/": ("index.html", "text/html"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
    "/icon-180.png": ("icon-180.png", "image/png"),
    "/icon-192.png": ("icon-192.png", "image/png"),
    "/icon-512.png": ("icon-512.png", "image/png"),
    "/manifest.webmanifest": ("manifest.webmanifest", "application/manifest+json"),
    "/page.js": ("page.js", "text/javascript"),
    "/page.css": ("page.css", "text/css"),
    "/code.js": (CODE_SCRIPT, "text/javascript"),
    "/content.css": (CONTENT_STYLE, "text/css"),
}


class WebLink:
    """Sends lines as text messages of a WebSocket.

    Args:
        connection: The WebSocket connection to the client.
    """

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection
        self._closing: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        """The number of bytes that the client has not received yet."""
        return self._connection.transport.get_write_buffer_size()

    def write(self, line: bytes) -> None:
        """Send a line without waiting."""
        from websockets.asyncio.server import broadcast

        broadcast([self._connection], line, text=True)

    def end(self, reason: str) -> None:
        """Close the connection once everything is written, or after ten seconds."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._connection.close(reason=reason[:60]))


class _Gate:
    """Decides how to respond to an HTTP request, before it may become a WebSocket.

    Args:
        token: The secret that a client must know.
        agent_dir: The agent directory, in which other served sessions are listed.
        public_url: See ``web_server``.
        server: The server of the session.
    """

    def __init__(self, token: str, agent_dir: Path, public_url: str | None, server: SessionServer) -> None:
        self._gate = LocalGate(token, public_url=public_url)
        self._prefix = urlsplit(public_url or "/").path.rstrip("/")
        self._agent_dir = agent_dir
        self._server = server

    async def answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """Return the response to a request; None allows a WebSocket to be opened."""
        headers = _joined(request.headers)
        foreign = self._gate.foreign(headers)
        if foreign is not None:
            return _text(connection, HTTPStatus.FORBIDDEN, f"{foreign}{_BEHIND_A_PROXY}")
        url = urlsplit(request.path)
        path = self._path(url.path)
        given = parse_qs(url.query).get("token", [""])[0]
        if not self._gate.knows(headers, given):
            await asyncio.sleep(_REFUSED_SECONDS)
            why = "The token is missing or wrong. Open the address that pi serve printed\n"
            return _text(connection, HTTPStatus.UNAUTHORIZED, why)
        if path == "/socket":
            return None
        if given:
            return self._with_cookie(connection, headers)
        if path in ("/sessions", "/stored"):
            return await self._list(connection, path)
        return _file(connection, path, headers.get("Host", ""))

    async def _list(self, connection: ServerConnection, path: str) -> Response:
        if path == "/sessions":
            served = served_sessions(self._agent_dir)
            titles = await self._server.titles(each.cwd for each in served)
            return _json(connection, [{**each.__dict__, "title": titles.get(each.session)} for each in served])
        try:
            return _json(connection, await self._server.stored_sessions())
        except PiError as error:
            return _text(connection, HTTPStatus.INTERNAL_SERVER_ERROR, f"{error}\n")

    def _path(self, path: str) -> str:
        """Return a path below the page's own; a proxy may have taken the prefix out, or left it."""
        below = path.removeprefix(self._prefix)
        return below if below.startswith("/") else path

    def _with_cookie(self, connection: ServerConnection, headers: Mapping[str, str]) -> Response:
        """Keep the token in a cookie, and take it out of the address."""
        response = _text(connection, HTTPStatus.SEE_OTHER, "")
        is_public = self._gate.is_public(headers)
        response.headers["Location"] = f"{self._prefix}/" if is_public else "/"
        response.headers["Set-Cookie"] = self._gate.cookie(headers)
        return response


def _joined(headers: Headers) -> Headers:
    """Return headers that have one value each, because ``Headers.get`` raises for a name with several.

    Cookies are joined as RFC 9113 (8.2.3) says, for a proxy may split them; other values become a list (RFC 9110, 5.3),
    which is neither a host, an origin nor a token.
    """
    from websockets.datastructures import Headers

    joined = Headers()
    for name in headers:
        joined[name] = ("; " if name.lower() == "cookie" else ", ").join(headers.get_all(name))
    return joined


def _text(connection: ServerConnection, status: HTTPStatus, text: str, kind: str = "text/plain") -> Response:
    return _with_body(connection, status, text.encode(), f"{kind}; charset=utf-8")


def _with_body(connection: ServerConnection, status: HTTPStatus, body: bytes, kind: str) -> Response:
    response = connection.respond(status, "")
    response.body = body
    for name, value in (("Content-Type", kind), ("Content-Length", str(len(body)))):
        del response.headers[name]
        response.headers[name] = value
    response.headers["Cache-Control"] = "no-store"
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


def _json(connection: ServerConnection, value: object) -> Response:
    return _text(connection, HTTPStatus.OK, json.dumps(value), "application/json")


def _file(connection: ServerConnection, path: str, host: str) -> Response:
    if path not in _PAGE:
        return _text(connection, HTTPStatus.NOT_FOUND, f"There is no {path!r}\n")
    name, kind = _PAGE[path]
    shared = name in (CODE_SCRIPT, CONTENT_STYLE)
    content = asset(name).encode() if shared else files("pi_serve").joinpath("page", name).read_bytes()
    is_text = kind != "image/png"
    response = _with_body(connection, HTTPStatus.OK, content, f"{kind}; charset=utf-8" if is_text else kind)
    response.headers["Content-Security-Policy"] = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; manifest-src 'self'; "
        f"connect-src 'self' ws://{host} wss://{host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return response


@asynccontextmanager
async def web_server(
    server: SessionServer, port: int, token: str, agent_dir: Path, *, public_url: str | None = None
) -> AsyncIterator[str]:
    """Serve browsers inside this context; yield the URL, without the token.

    Args:
        server: The server of the session.
        port: The port; 0 selects any free port.
        token: The secret that a client must know.
        agent_dir: The agent directory, in which other served sessions are listed.
        public_url: An address at which a proxy or a tunnel of the user offers the port; None if there is none.

    Raises:
        UserError: The port is already in use, or may not be used.
    """
    from websockets.asyncio.server import serve

    from pi_serve.limited_connection import limited_connections

    async def connected(connection: ServerConnection) -> None:
        link = WebLink(connection)
        await server.handle_connection(link, _lines(connection))
        link.end("")
        await connection.wait_closed()

    logger = logging.getLogger("pi_serve.web")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False  # failing clients are not worth a message, and requests contain the token
    try:
        listener = await serve(
            connected,
            _HOST,
            port,
            create_connection=limited_connections(_MAX_CONNECTIONS),
            process_request=_Gate(token, agent_dir, public_url, server).answer,
            compression=None,
            max_size=MAX_LINE,
            max_queue=4,
            open_timeout=_OPEN_SECONDS,
            ping_interval=_PING_SECONDS,
            ping_timeout=_PING_SECONDS,
            logger=logger,
            server_header=None,
        )
    except OSError as error:
        raise UserError(f"Port {port} cannot be used: {error.strerror or error}. Give another one: --port N") from error
    async with listener:
        yield f"http://{_HOST}:{listener.sockets[0].getsockname()[1]}/"


async def _lines(connection: ServerConnection) -> AsyncIterator[bytes | None]:
    from websockets.exceptions import ConnectionClosed

    with suppress(ConnectionClosed):
        while True:
            message = await connection.recv(decode=False)
            for line in message.splitlines() or [b""]:
                yield line

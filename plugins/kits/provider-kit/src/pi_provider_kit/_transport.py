"""The way to the network, under httpx's API: connections that are kept, TLS, proxies.

httpx's own transport makes a Python object for every HTTP chunk, and model servers send one chunk per token. Where a
proxy applies, httpx's own transport does the work nevertheless.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httpx

from pi_provider_kit._connection import Answer, Connection
from pi_provider_kit._proxies import Proxies, proxied_transport, proxy_failure

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Mapping
    from typing import Any, TypeAlias

    Origin: TypeAlias = tuple[str, str, int]

__all__ = ["Transport"]

_KEEP_SECONDS = 60.0
"""How long an idle connection stays open."""

_KEEP_PER_ORIGIN = 8

_PORTS = {"http": 80, "https": 443}
_LAST_PORT = 65_535

_HAPPY_EYEBALLS = 0.25
"""Seconds before the next address of a name is tried beside the first (RFC 8305)."""


class Transport(httpx.AsyncBaseTransport):
    """Sends requests for one event loop.

    The extension ``timeout`` of a request has httpx's ``connect`` and ``read`` (between two reads of the body), and
    ``first_byte``, the wait for the answer to begin; all in seconds, None is no limit. The extension ``sent`` is called
    when the request has left, or is about to where a proxy applies.
    """

    def __init__(self, proxies: Proxies | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        self._proxies = Proxies.from_environment() if proxies is None else proxies
        self._proxied: dict[str, httpx.AsyncBaseTransport] = {}
        self._idle: dict[Origin, list[Connection]] = {}
        self._origins: dict[Connection, Origin] = {}
        self._ssl: ssl.SSLContext | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the answer when its headers are here; its stream reads the body."""
        proxy = self._proxies.proxy_for(request.url.scheme, request.url.host, request.url.port)
        sent = request.extensions.get("sent")
        if proxy is not None:
            if sent is not None:
                sent()
            try:
                return await self._proxied_answer(proxy, request)
            except httpx.ConnectError as error:
                failure = proxy_failure(proxy, error)
                if failure is None:
                    raise
                raise failure from error
        timeouts = request.extensions.get("timeout", {})
        connection, answer = await self._answered(request, timeouts, sent)
        if request.method == "HEAD":  # the parser cannot know that no body follows
            answer.complete, answer.keep_alive = True, False
        return httpx.Response(
            status_code=answer.status,
            headers=answer.headers,
            stream=_Body(connection, timeouts.get("read")),
            extensions={"http_version": b"HTTP/1.1", "reason_phrase": answer.reason},
        )

    async def aclose(self) -> None:
        """Close every connection, those in use too."""
        connections = list(self._origins)
        for connection in connections:
            connection.abort()
        for connection in connections:
            await connection.closed()
        for transport in self._proxied.values():
            await transport.aclose()
        self._proxied.clear()

    async def _proxied_answer(self, proxy: str, request: httpx.Request) -> httpx.Response:
        """Return the answer of httpx's own transport, whose limits are for single reads, within one limit for all."""
        timeouts = request.extensions.get("timeout", {})
        connect, first_byte = timeouts.get("connect"), timeouts.get("first_byte")
        try:
            async with asyncio.timeout(None if connect is None or first_byte is None else connect + first_byte):
                return await self._through(proxy).handle_async_request(request)
        except TimeoutError as error:
            raise httpx.ReadTimeout("no answer in time") from error

    async def _answered(
        self, request: httpx.Request, timeouts: Mapping[str, Any], sent: Callable[[], object] | None
    ) -> tuple[Connection, Answer]:
        message = _head(request) + await request.aread()
        seconds = timeouts.get("first_byte", timeouts.get("read"))
        while True:
            connection = await self._connection(_origin(request.url), timeouts.get("connect"))
            try:
                return connection, await connection.ask(message, seconds, sent)
            except (httpx.ReadError, httpx.RemoteProtocolError):
                if not connection.stale:
                    raise
                # The server closed an idle connection while the request was on its way: ask again on another.

    async def _connection(self, origin: Origin, seconds: float | None) -> Connection:
        idle = self._idle.get(origin)
        if idle:
            return idle.pop()
        scheme, host, port = origin
        context = self._ssl_context() if scheme == "https" else None
        try:
            async with asyncio.timeout(seconds) as scope:
                _, connection = await self._loop.create_connection(
                    lambda: Connection(self._loop, self._keep, self._forget),
                    host,
                    port,
                    ssl=context,
                    server_hostname=host if context is not None else None,
                    happy_eyeballs_delay=_HAPPY_EYEBALLS,
                )
        except OSError as error:  # ssl.SSLError, socket.gaierror and TimeoutError too
            if scope.expired():
                raise httpx.ConnectTimeout(f"not within {seconds:g} s") from error
            raise httpx.ConnectError(str(error)) from error
        self._origins[connection] = origin
        return connection

    def _keep(self, connection: Connection) -> None:
        origin = self._origins.get(connection)
        idle = self._idle.setdefault(origin, []) if origin is not None else None
        if idle is None or len(idle) >= _KEEP_PER_ORIGIN:
            connection.abort()
            return
        connection.keep_for(_KEEP_SECONDS)
        idle.append(connection)

    def _forget(self, connection: Connection) -> None:
        origin = self._origins.pop(connection, None)
        if origin is not None and connection in self._idle.get(origin, ()):
            self._idle[origin].remove(connection)

    def _through(self, proxy: str) -> httpx.AsyncBaseTransport:
        transport = self._proxied.get(proxy)
        if transport is None:
            transport = self._proxied[proxy] = proxied_transport(proxy, self._ssl_context())
        return transport

    def _ssl_context(self) -> ssl.SSLContext:
        """Return the context, made with the first https connection because that takes some 30 ms."""
        if self._ssl is None:
            self._ssl = httpx.create_ssl_context()
            self._ssl.set_alpn_protocols(["http/1.1"])
        return self._ssl


class _Body(httpx.AsyncByteStream):
    """The body of an answer. It is its own iterator: a generator would have to be closed by whoever leaves early."""

    def __init__(self, connection: Connection, seconds: float | None) -> None:
        self._connection = connection
        self._seconds = seconds
        self._released = False

    def __aiter__(self) -> _Body:
        return self

    async def __anext__(self) -> bytes:
        data = b"" if self._released else await self._connection.read(self._seconds)
        if not data:
            raise StopAsyncIteration
        return data

    async def aclose(self) -> None:
        if not self._released:
            self._released = True
            self._connection.release()


def _origin(url: httpx.URL) -> Origin:
    if url.scheme not in _PORTS or not url.host:
        raise httpx.UnsupportedProtocol("the URL must begin with http:// or https:// and name a host")
    port = _PORTS[url.scheme] if url.port is None else url.port
    if not 0 < port <= _LAST_PORT:
        raise httpx.InvalidURL(f"the port must be 1 to {_LAST_PORT}")
    return url.scheme, url.host, port


def _head(request: httpx.Request) -> bytes:
    lines = [b"%s %s HTTP/1.1\r\n" % (request.method.encode("ascii"), request.url.raw_path)]
    for name, value in request.headers.raw:
        if not _CONTROL.isdisjoint(value) or not _CONTROL.isdisjoint(name):
            # Not its value: it may be a key that was pasted with the end of its line.
            raise httpx.LocalProtocolError(f"the header {name.decode('ascii', 'replace')!r} contains a line break")
        lines.append(b"%s: %s\r\n" % (name, value))
    lines.append(b"\r\n")
    return b"".join(lines)


_CONTROL = frozenset(b"\r\n\0")

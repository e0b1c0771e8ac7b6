"""Connections to servers, kept between requests: one pool for each event loop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pi_provider_kit.addresses import connected_socket
from pi_provider_kit.connection import Connection
from pi_provider_kit.errors import ConnectError, ConnectTimeout, ReadError, RemoteProtocolError

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Mapping
    from typing import Any, TypeAlias

    from pi_provider_kit.http_answer import Answer

    Origin: TypeAlias = tuple[str, str, int]
    """Scheme, host and port."""

__all__ = ["Body", "Pool"]

_KEEP_SECONDS = 60.0
"""How long an idle connection stays open."""

_KEEP_PER_ORIGIN = 8


class Pool:
    """The connections of the running event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._idle: dict[Origin, list[Connection]] = {}
        self._origins: dict[Connection, Origin] = {}
        self._ssl: ssl.SSLContext | None = None

    async def ask(
        self, origin: Origin, message: bytes, timeouts: Mapping[str, Any], sent: Callable[[], object] | None
    ) -> tuple[Connection, Answer]:
        """Send a whole request; returns when the headers of its answer are here.

        Args:
            origin: Where to.
            message: Head and body.
            timeouts: ``connect``, ``first_byte`` and ``read`` in seconds; None, or nothing, is no limit.
            sent: Called when the request has left.

        Raises:
            TransportError: There was no answer.
        """
        seconds = timeouts.get("first_byte", timeouts.get("read"))
        while True:
            connection = await self._connection(origin, timeouts.get("connect"))
            try:
                return connection, await connection.ask(message, seconds, sent)
            except (ReadError, RemoteProtocolError):
                if not connection.stale:
                    raise
                # The server closed an idle connection while the request was on its way: ask again on another.

    async def aclose(self) -> None:
        """Close every connection, those in use too."""
        connections = list(self._origins)
        for connection in connections:
            connection.abort()
        for connection in connections:
            await connection.closed()

    def ssl_context(self) -> ssl.SSLContext:
        """Return the context, made with the first https connection because that takes some 30 ms.

        Raises:
            HttpFailed: A variable names certificates that cannot be used.
        """
        if self._ssl is None:
            self._ssl = _ssl_context()
        return self._ssl

    async def _connection(self, origin: Origin, seconds: float | None) -> Connection:
        idle = self._idle.get(origin)
        if idle:
            return idle.pop()
        scheme, host, port = origin
        context = self.ssl_context() if scheme == "https" else None
        try:
            async with asyncio.timeout(seconds) as scope:
                connection = await self._connected(host, port, context)
        except OSError as error:  # ssl.SSLError, socket.gaierror and TimeoutError too
            if scope.expired():
                raise ConnectTimeout(f"not within {seconds:g} s") from error
            raise ConnectError(str(error)) from error
        self._origins[connection] = origin
        return connection

    async def _connected(self, host: str, port: int, context: ssl.SSLContext | None) -> Connection:
        _, connection = await self._loop.create_connection(
            lambda: Connection(self._loop, self._keep, self._forget),
            sock=await connected_socket(host, port),
            ssl=context,
            server_hostname=host if context is not None else None,
        )
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


class Body:
    """The body of a response. It is its own iterator: callers that stop early would have to close a generator."""

    def __init__(self, connection: Connection, seconds: float | None) -> None:
        self._connection = connection
        self._seconds = seconds
        self._released = False

    def __aiter__(self) -> Body:
        return self

    async def __anext__(self) -> bytes:
        data = b"" if self._released else await self._connection.read(self._seconds)
        if not data:
            raise StopAsyncIteration
        return data

    async def aclose(self) -> None:
        """Give the connection back to the pool."""
        if not self._released:
            self._released = True
            self._connection.release()


def _ssl_context() -> ssl.SSLContext:
    from pi_provider_kit.certificates import trusting_context

    context = trusting_context()
    context.set_alpn_protocols(["http/1.1"])
    return context

"""Connections of a web server of which only so many may be open: a further one is refused at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from websockets.asyncio.server import ServerConnection

if TYPE_CHECKING:
    import asyncio

__all__ = ["limited_connections"]

_REFUSAL = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\nRetry-After: 10\r\n\r\n"


def limited_connections(most: int) -> type[ServerConnection]:
    """Return the class of the connections of one server, of which so many may be open."""
    open_connections: set[ServerConnection] = set()

    class LimitedConnection(ServerConnection):
        """A connection, or the refusal of one, which is no connection to the library."""

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            if len(open_connections) < most:
                open_connections.add(self)
                super().connection_made(transport)
                return
            refused = cast("asyncio.Transport", transport)
            refused.write(_REFUSAL)
            refused.close()

        def data_received(self, data: bytes) -> None:
            if self in open_connections:
                super().data_received(data)

        def eof_received(self) -> None:
            if self in open_connections:
                super().eof_received()

        def connection_lost(self, exc: Exception | None) -> None:
            if self in open_connections:
                open_connections.discard(self)
                super().connection_lost(exc)

    return LimitedConnection

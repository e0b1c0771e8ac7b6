"""Connections of a web server of which only so many may be open.

A further one takes the place of the oldest that has not been answered yet, so that connections which say nothing, which
any local user can open, keep nobody out. If all are in use, it is refused at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from websockets.asyncio.server import ServerConnection
from websockets.protocol import State

if TYPE_CHECKING:
    import asyncio

__all__ = ["limited_connections"]

_REFUSAL = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\nRetry-After: 10\r\n\r\n"


def limited_connections(most: int) -> type[ServerConnection]:
    """Return the class of the connections of one server, of which so many may be open."""
    open_connections: dict[ServerConnection, None] = {}  # the oldest first

    class LimitedConnection(ServerConnection):
        """A connection, or the refusal of one, which is no connection to the library."""

        is_known = False
        """Whether the library knows of it."""

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            if len(open_connections) >= most:
                _end_unanswered(open_connections)
            if len(open_connections) < most:
                open_connections[self] = None
                self.is_known = True
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
            open_connections.pop(self, None)
            if self.is_known:
                super().connection_lost(exc)

    return LimitedConnection


def _end_unanswered(connections: dict[ServerConnection, None]) -> None:
    """End the oldest connection whose request has not been answered; none if there is none."""
    oldest = next((each for each in connections if each.protocol.state is State.CONNECTING), None)
    if oldest is not None:
        del connections[oldest]
        oldest.transport.abort()

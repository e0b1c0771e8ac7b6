"""Transport errors with httpx's names, without the 20 ms that importing httpx takes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx

__all__ = [
    "ConnectError",
    "ConnectTimeout",
    "LocalProtocolError",
    "ReadError",
    "ReadTimeout",
    "RemoteProtocolError",
    "TransportError",
    "as_httpx",
    "transport_errors",
]


class TransportError(Exception):
    """A request could not be sent, or its answer not be read."""


class ConnectError(TransportError):
    """There is no connection to the server."""


class ConnectTimeout(TransportError):
    """There was no connection in time."""


class ReadError(TransportError):
    """The connection broke."""


class ReadTimeout(TransportError):
    """Nothing was received in time."""


class RemoteProtocolError(TransportError):
    """What the server sent is not HTTP, or ended too early."""


class LocalProtocolError(TransportError):
    """The request is not HTTP."""


def as_httpx(error: TransportError) -> httpx.TransportError:
    """Return the exception that httpx has for the same failure."""
    import httpx

    made: httpx.TransportError = getattr(httpx, type(error).__name__)(str(error))
    return made


def transport_errors(*more: type[Exception]) -> tuple[type[Exception], ...]:
    """Return the exceptions of all transports, these and httpx's where it is imported, and ``more``."""
    client = sys.modules.get("httpx")
    of_httpx = () if client is None else (client.HTTPError, client.InvalidURL)
    return (TransportError, *of_httpx, *more)

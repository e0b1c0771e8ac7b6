"""Requests that need no httpx: to a plain URL, without a proxy. That is nearly every request to a model.

httpx takes 20 ms to import, a tenth of the time from the start of the process to its first request.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pi_provider_kit.errors import LocalProtocolError
from pi_provider_kit.pool import Body, Pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pi_provider_kit.proxies import Proxies

__all__ = ["Direct", "Reply", "request_head"]

_PLAIN_URL = re.compile(
    r"(?P<scheme>https?)://(?![^/]*xn--)(?P<host>[a-z0-9-]+(?:\.[a-z0-9-]+)*)(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<target>(?:/(?!\.)[A-Za-z0-9._~:@!$&*+,;=-]*)*(?:\?[A-Za-z0-9._~:@!$&*+,;=/-]*)?)"
)
"""URLs that reach the server as they are written: httpx encodes and normalizes all others."""

_PORTS = {"http": 80, "https": 443}
_LAST_PORT = 65_535
_WITH_BODY = ("POST", "PUT", "PATCH")
"""Methods whose requests declare an empty body, too (``content-length: 0``)."""
_LENGTHS = ("content-length", "transfer-encoding")
_CONTROL = frozenset(b"\r\n\0")


class Reply:
    """A response whose headers have been received.

    Attributes:
        status_code: The HTTP status.
        headers: The headers by name, as the server writes it.
        stream: Yields the body; to be closed.
    """

    def __init__(self, status_code: int, headers: dict[str, str], stream: Any) -> None:
        self.status_code = status_code
        self.headers = headers
        self.stream = stream


class Direct:
    """Makes requests over the connections of a pool.

    Args:
        pool: The connections of the running event loop.
        proxies: Those of the environment.
    """

    def __init__(self, pool: Pool, proxies: Proxies) -> None:
        self.pool = pool
        self.proxies = proxies

    def can_reach(self, url: str) -> bool:
        """Return whether a URL is plain, and no proxy applies to it."""
        plain = _PLAIN_URL.fullmatch(url)
        if plain is None:
            return False
        port = int(plain["port"]) if plain["port"] else None
        return (port is None or 0 < port <= _LAST_PORT) and (
            self.proxies.proxy_for(plain["scheme"], plain["host"], port) is None
        )

    async def ask(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None,
        timeouts: Mapping[str, Any],
        sent: Callable[[], object] | None,
    ) -> Reply:
        """Send a request; ``headers`` are ASCII with names in lower case. See ``Pool.ask`` for the rest.

        Raises:
            TransportError: There was no answer.
        """
        plain = _PLAIN_URL.fullmatch(url)
        assert plain is not None, "can_reach"  # noqa: S101 - asked before
        scheme, host, target = plain["scheme"], plain["host"], plain["target"]
        port = int(plain["port"]) if plain["port"] else _PORTS[scheme]
        sent_headers = dict(headers)
        if "host" not in headers:
            sent_headers = {"Host": host if port == _PORTS[scheme] else f"{host}:{port}", **headers}
        if (body is not None or method in _WITH_BODY) and headers.keys().isdisjoint(_LENGTHS):
            sent_headers["Content-Length"] = str(len(body or b""))
        lines = [(name.encode(), value.encode()) for name, value in sent_headers.items()]
        path = target if target.startswith("/") else f"/{target}"
        message = request_head(method, path.encode(), lines) + (body or b"")
        connection, answer = await self.pool.ask((scheme, host, port), message, timeouts, sent)
        if method == "HEAD":  # the parser cannot know that no body follows
            answer.complete, answer.keep_alive = True, False
        found: dict[str, str] = {}
        for raw_name, raw_value in answer.headers:
            name, value = _text(raw_name).lower(), _text(raw_value)
            found[name] = f"{found[name]}, {value}" if name in found else value
        return Reply(answer.status, found, Body(connection, timeouts.get("read")))


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def request_head(method: str, target: bytes, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return request line and headers as they are sent.

    Raises:
        LocalProtocolError: A header contains a line break.
    """
    lines = [b"%s %s HTTP/1.1\r\n" % (method.encode("ascii"), target)]
    for name, value in headers:
        if not _CONTROL.isdisjoint(value) or not _CONTROL.isdisjoint(name):
            # Not its value: it may be a key that was pasted with the end of its line.
            raise LocalProtocolError(f"the header {name.decode('ascii', 'replace')!r} contains a line break")
        lines.append(b"%s: %s\r\n" % (name, value))
    lines.append(b"\r\n")
    return b"".join(lines)

"""The one way to the network with ``sandbox.network`` ``allow``: a proxy in pi that connects to the listed hosts alone.

It speaks HTTP (``CONNECT``, and requests with an absolute address) and SOCKS5. On a port, which every user of the
computer can reach, it wants its token as a password (RFC 7617, RFC 1929) before it looks at a request; on a Unix socket
the private folder around it is enough. Names are resolved here, outside the
sandbox; addresses instead of names, and names of private addresses, are refused.
"""

from __future__ import annotations

import asyncio
import base64
import ipaddress
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["USER", "Proxy", "allowed_host"]

USER = "pi"
"""The name that goes with the token."""
_HEAD_LIMIT = 64 * 1024
_HEAD_SECONDS = 20.0
_CONNECT_SECONDS = 20.0
_PORTS = (80, 443)
"""Ports of a host that is listed without one."""
_CHUNK = 1 << 16


_NO_SOCKS_METHOD = 0xFF


class Refused(Exception):
    """A connection that is not made, and why."""


class Stranger(Exception):
    """A request without the token; ``socks`` is whether it came by SOCKS5, and has been answered."""

    def __init__(self, *, socks: bool) -> None:
        super().__init__("no token")
        self.socks = socks


def allowed_host(host: str, port: int, allow: Sequence[str]) -> bool:
    """Whether a rule allows a host and a port; ``*.example.org`` does not allow ``example.org`` itself."""
    name = host.rstrip(".").lower()
    for rule in allow:
        pattern, _, number = rule.lower().partition(":")
        fits = name.endswith(pattern[1:]) and name != pattern[2:] if pattern.startswith("*.") else name == pattern
        if fits and (port == int(number) if number else port in _PORTS):
            return True
    return False


class Proxy:
    """A running proxy.

    Args:
        allow: The rules, as in ``sandbox.allow``.

    Attributes:
        port: Its port on the loopback interface; 0 if it listens on a Unix socket.
        token: The password of ``USER`` that every client of the port has to send; None on a Unix socket.
        refused: What was refused, oldest first, each once: ``host:port``.
    """

    def __init__(self, allow: Sequence[str]) -> None:
        self._allow = allow
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0
        self.token: str | None = None
        self.refused: dict[str, None] = {}

    async def start(self, path: str | None = None) -> None:
        """Listen, on a Unix socket or on a free port of the loopback interface."""
        if path is not None:
            self._server = await asyncio.start_unix_server(self._on_client, path, limit=_HEAD_LIMIT)
            return
        self.token = secrets.token_urlsafe(24)
        self._server = await asyncio.start_server(self._on_client, "127.0.0.1", 0, limit=_HEAD_LIMIT)
        self.port = self._server.sockets[0].getsockname()[1]

    def close(self) -> None:
        """Stop listening, and end the connections."""
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()

    async def _on_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a stream server runs this in a task
        self._tasks.add(task)
        try:
            await self._serve(reader, writer)
        except (OSError, EOFError, asyncio.LimitOverrunError, TimeoutError, ValueError):
            pass  # the client is gone, or speaks neither protocol
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_HEAD_SECONDS):
            first = await reader.readexactly(1)
            socks = first == b"\x05"
            try:
                target = _socks_target(reader, writer, self.token) if socks else _http_target(first, reader, self.token)
                host, port, head = await target
            except Stranger as stranger:
                if not stranger.socks:
                    writer.write(_http_challenge())
                await writer.drain()
                return
        try:
            there, back = await self._connect(host, port)
        except Refused as reason:
            writer.write(_socks_answer(2) if socks else _http_refusal(str(reason)))
            await writer.drain()
            return
        try:
            if socks or head is None:
                writer.write(_socks_answer(0) if socks else b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                back.write(head)
            await asyncio.gather(_copy(reader, back), _copy(there, writer))
        finally:
            back.close()

    async def _connect(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to a host.

        Raises:
            Refused: It is not listed, it is private, or it does not answer.
        """
        if not allowed_host(host, port, self._allow):
            self.refused[f"{host}:{port}"] = None
            raise Refused(f"{host}:{port} is not in sandbox.allow")
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                return await asyncio.open_connection(await self._address(host, port), port, limit=_CHUNK)
        except (OSError, TimeoutError) as error:
            raise Refused(f"{host}:{port} cannot be reached: {str(error) or 'no answer'}") from error

    async def _address(self, host: str, port: int) -> str:
        """Return an address of a host, looked up once: what was judged is what is connected to."""
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=1)
        addresses = [str(row[4][0]) for row in found]
        if host.lower() == "localhost":  # listed by that name, with its port
            return addresses[0]
        for address in addresses:
            if ipaddress.ip_address(address.partition("%")[0]).is_global:
                return address
        self.refused[f"{host}:{port}"] = None
        raise Refused(f"{host} is the name of a private address")


async def _http_target(first: bytes, reader: asyncio.StreamReader, token: str | None) -> tuple[str, int, bytes | None]:
    """Return host, port and the bytes to send there first; None for a tunnel.

    Raises:
        Stranger: The token is missing or wrong.
    """
    from urllib.parse import urlsplit

    head = first + await reader.readuntil(b"\r\n\r\n")
    line, _, rest = head.partition(b"\r\n")
    if token is not None and not _has_token(rest, token):
        raise Stranger(socks=False)
    method, target, version = line.decode("ascii").split(" ")
    if method == "CONNECT":
        parts = urlsplit(f"//{target}")
        return parts.hostname or "", parts.port or 443, None
    parts = urlsplit(target)
    if parts.scheme != "http" or not parts.hostname:
        raise ValueError(target)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    kept = [each for each in rest.split(b"\r\n") if not each.lower().startswith((b"proxy-", b"connection:"))]
    lines = [f"{method} {path} {version}".encode("ascii"), b"Connection: close", *kept]
    return parts.hostname, parts.port or 80, b"\r\n".join(lines)


def _has_token(headers: bytes, token: str) -> bool:
    expected = b"basic " + base64.b64encode(f"{USER}:{token}".encode())
    for line in headers.split(b"\r\n"):
        name, _, value = line.partition(b":")
        scheme, _, given = value.strip().partition(b" ")
        if name.lower() == b"proxy-authorization":
            return secrets.compare_digest(scheme.lower() + b" " + given.strip(), expected)
    return False


async def _socks_target(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: str | None
) -> tuple[str, int, bytes | None]:
    """Return host and port of a SOCKS5 request to connect (RFC 1928).

    Raises:
        Stranger: The token is missing or wrong.
    """
    methods = await _socks_field(reader)
    method = 0 if token is None else 2
    writer.write(bytes((5, method if method in methods else _NO_SOCKS_METHOD)))
    if method not in methods:
        raise Stranger(socks=True)
    if token is not None:
        await reader.readexactly(1)
        user, password = await _socks_field(reader), await _socks_field(reader)
        known = secrets.compare_digest(user + b":" + password, f"{USER}:{token}".encode())
        writer.write(bytes((1, not known)))
        if not known:
            raise Stranger(socks=True)
    _, command, _, kind = await reader.readexactly(4)
    if command != 1:
        raise ValueError(command)
    if kind == 3:  # noqa: PLR2004 - a name
        host = (await reader.readexactly((await reader.readexactly(1))[0])).decode("ascii")
    else:
        host = str(ipaddress.ip_address(await reader.readexactly(4 if kind == 1 else 16)))
    return host, int.from_bytes(await reader.readexactly(2), "big"), None


async def _socks_field(reader: asyncio.StreamReader) -> bytes:
    """Return a field that begins with its length."""
    return await reader.readexactly((await reader.readexactly(1))[0])


def _socks_answer(code: int) -> bytes:
    return bytes((5, code, 0, 1)) + bytes(6)


def _http_challenge() -> bytes:
    return _http_refusal(
        "it lacks the password that is in HTTP_PROXY",
        "407 Proxy Authentication Required",
        f'Proxy-Authenticate: Basic realm="{USER}"',
    )


def _http_refusal(reason: str, status: str = "403 Forbidden", *more: str) -> bytes:
    body = f"The sandbox refused this connection: {reason}.\n".encode()
    length = f"Content-Length: {len(body)}"
    head = (f"HTTP/1.1 {status}", "Content-Type: text/plain", length, *more, "Connection: close")
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await source.read(_CHUNK):
            target.write(data)
            await target.drain()
    with suppress(OSError):
        if target.can_write_eof():
            target.write_eof()

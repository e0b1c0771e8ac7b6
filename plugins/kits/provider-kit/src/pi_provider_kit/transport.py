"""The transport under httpx's API, for httpx's clients and for requests that ``Direct`` does not support.

httpx's own transport makes a Python object for every HTTP chunk, and model servers send one chunk per token. Where a
proxy applies, httpx's own transport is used nevertheless.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httpx

from pi_provider_kit.direct import request_head
from pi_provider_kit.errors import TransportError, as_httpx
from pi_provider_kit.pool import Body, Pool
from pi_provider_kit.proxies import Proxies, proxied_transport, proxy_failure

if TYPE_CHECKING:
    from pi_provider_kit.pool import Origin

__all__ = ["HttpxBody", "Transport"]

_PORTS = {"http": 80, "https": 443}
_LAST_PORT = 65_535


class Transport(httpx.AsyncBaseTransport):
    """Sends requests for one event loop.

    The extension ``timeout`` of a request has httpx's ``connect`` and ``read`` (between two reads of the body), and
    ``first_byte``, the wait for the answer to begin; all in seconds, None is no limit. The extension ``sent`` is called
    when the request has left, or is about to where a proxy applies.
    """

    def __init__(self, proxies: Proxies | None = None, pool: Pool | None = None) -> None:
        self._proxies = Proxies.from_environment() if proxies is None else proxies
        self._proxied: dict[str, httpx.AsyncBaseTransport] = {}
        self._pool = Pool() if pool is None else pool

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the response when its headers have arrived; its stream reads the body."""
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
        try:
            origin, message = _origin(request.url), _head(request) + await request.aread()
            connection, answer = await self._pool.ask(origin, message, timeouts, sent)
        except TransportError as error:
            raise as_httpx(error) from error
        if request.method == "HEAD":  # the parser cannot know that no body follows
            answer.complete, answer.keep_alive = True, False
        return httpx.Response(
            status_code=answer.status,
            headers=answer.headers,
            stream=HttpxBody(Body(connection, timeouts.get("read"))),
            extensions={"http_version": b"HTTP/1.1", "reason_phrase": answer.reason},
        )

    async def aclose(self) -> None:
        """Close the body."""
        """Close every connection, including those in use."""
        await self._pool.aclose()
        for transport in self._proxied.values():
            await transport.aclose()
        self._proxied.clear()

    async def _proxied_answer(self, proxy: str, request: httpx.Request) -> httpx.Response:
        """Return the response of httpx's own transport within one deadline; its own timeouts are for single reads."""
        timeouts = request.extensions.get("timeout", {})
        connect, first_byte = timeouts.get("connect"), timeouts.get("first_byte")
        try:
            async with asyncio.timeout(None if connect is None or first_byte is None else connect + first_byte):
                return await self._through(proxy).handle_async_request(request)
        except TimeoutError as error:
            raise httpx.ReadTimeout("no answer in time") from error

    def _through(self, proxy: str) -> httpx.AsyncBaseTransport:
        transport = self._proxied.get(proxy)
        if transport is None:
            transport = self._proxied[proxy] = proxied_transport(proxy, self._pool.ssl_context())
        return transport


class HttpxBody(httpx.AsyncByteStream):
    """A body as httpx reads it, which fails as httpx's own do."""

    def __init__(self, body: Body) -> None:
        self._body = body

    def __aiter__(self) -> HttpxBody:
        return self

    async def __anext__(self) -> bytes:
        try:
            return await anext(self._body)
        except TransportError as error:
            raise as_httpx(error) from error

    async def aclose(self) -> None:
        """Close the body."""
        await self._body.aclose()


def _origin(url: httpx.URL) -> Origin:
    if url.scheme not in _PORTS or not url.host:
        raise httpx.UnsupportedProtocol("the URL must begin with http:// or https:// and name a host")
    port = _PORTS[url.scheme] if url.port is None else url.port
    if not 0 < port <= _LAST_PORT:
        raise httpx.InvalidURL(f"the port must be 1 to {_LAST_PORT}")
    return url.scheme, url.host, port


def _head(request: httpx.Request) -> bytes:
    return request_head(request.method, request.url.raw_path, request.headers.raw)

"""A server over HTTP: headers, sign-in, size limits, and retries where they are harmless."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Self

import anyio
import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from pi_mcp.sidecar.auth import sign_in
from pi_mcp.sidecar.checked import MESSAGE_LIMIT, checked, sound_answer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from pi_mcp.sidecar.checked import Trouble

__all__ = ["http_transport"]

ERROR_LIMIT = 8 << 10
"""Maximum bytes that are read of an error's body."""
_TIMEOUT = httpx2.Timeout(30.0, read=300.0)
"""Seconds; a server may keep the stream of an answer open for long."""
_REFRESH_WAIT = 3.0
_SESSION = "mcp-session-id"
_WAITS = (0.25, 1.0)
_AGAIN = {408, 429, 500, 502, 503, 504}
_LINE_END = re.compile(rb"\r\n|\r|\n")


class _Limited(httpx2.AsyncByteStream):
    """A body that raises an error if it is too long."""

    def __init__(self, stream: Any, limit: int, *, cut: bool) -> None:
        self._stream = stream
        self._limit = limit
        self._cut = cut

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > self._limit:
                if self._cut:
                    return
                raise httpx2.ReadError(f"the server sent a message of more than {self._limit >> 20} MB")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


class _Repaired(_Limited):
    """The body of a message, in a form that the SDK takes."""

    def __init__(self, stream: _Limited) -> None:
        super().__init__(stream, MESSAGE_LIMIT, cut=False)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        body = b"".join([chunk async for chunk in self._stream])
        answer = sound_answer(body)
        yield body if answer is None else json.dumps(answer).encode()


class _RepairedEvents(_Limited):
    """A stream of server-sent events, each with its message in a form that the SDK takes.

    Lines are passed on when they are complete, those of ``data`` with the end of their event: a field that follows
    them, such as ``id``, is then before them, which means the same.
    """

    def __init__(self, stream: Any) -> None:
        super().__init__(stream, MESSAGE_LIMIT, cut=False)
        self._data: list[bytes] = []
        self._size = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        rest, after_return = b"", False
        async for chunk in self._stream:
            if after_return and chunk.startswith(b"\n"):
                chunk = chunk[1:]  # noqa: PLW2901 - the second half of a line's end
            after_return = chunk.endswith(b"\r") if chunk else after_return
            *lines, rest = _LINE_END.split(rest + chunk)
            if passed := b"".join(map(self._passed, lines)):
                yield passed
            if len(rest) + self._size > self._limit:
                raise httpx2.ReadError(f"the server sent a message of more than {self._limit >> 20} MB")
        yield (self._passed(rest) if rest else b"") + b"".join(b"data: %b\n" % each for each in self._data)

    def _passed(self, line: bytes) -> bytes:
        """Return what can be passed on with a line: nothing yet for ``data``, the message at the end of an event."""
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
            self._size += len(value)
            return b""
        if line:
            return line + b"\n"
        data, self._data, self._size = self._data, [], 0
        answer = sound_answer(b"\n".join(data)) if data else None
        lines = data if answer is None else [json.dumps(answer).encode()]
        return b"".join(b"data: %b\n" % each for each in lines) + b"\n"


class _Careful(httpx2.AsyncBaseTransport):
    """Limits responses, and retries requests that reach no server until the connection is open.

    Args:
        trouble: Records why the connection ended.
    """

    def __init__(self, trouble: Trouble) -> None:
        self._inner = httpx2.AsyncHTTPTransport()
        self._trouble = trouble
        self._refreshing: set[asyncio.Task[None]] = set()
        self.may_repeat = True
        self.keep_tokens: Callable[[bytes], Awaitable[None]] | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if self.keep_tokens is not None and _is_refresh(request):
            return await self._refresh(request)
        return await self._send(request)

    async def _refresh(self, request: httpx2.Request) -> httpx2.Response:
        """Return the answer to a token refresh, which continues even if the call that caused it is cancelled.

        The server has replaced the refresh token by then: losing the new one would cost the sign-in.
        """
        answered: asyncio.Future[httpx2.Response] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._refresh_to_end(request, answered))
        self._refreshing.add(task)
        task.add_done_callback(self._refreshing.discard)
        return await answered

    async def _refresh_to_end(self, request: httpx2.Request, answered: asyncio.Future[httpx2.Response]) -> None:
        try:
            response = await self._send(request)
            content = await response.aread()
        except httpx2.HTTPError as error:
            if not answered.done():
                answered.set_exception(error)
            return
        if not answered.done():
            answered.set_result(response)
        elif response.is_success and self.keep_tokens is not None:
            await self.keep_tokens(content)

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        for wait in (*_WAITS, None):
            try:
                response = await self._inner.handle_async_request(request)
            except httpx2.TransportError:
                if wait is None or not self.may_repeat:
                    raise
            else:
                if response.status_code == httpx2.codes.NOT_FOUND and _SESSION in request.headers:
                    self._trouble.happened("the server no longer knows the session", is_untouched=True)
                if wait is None or not self.may_repeat or response.status_code not in _AGAIN:
                    return self._limited(response)
                await response.aclose()
            await asyncio.sleep(wait)
        raise AssertionError("the last try returns or raises")

    @staticmethod
    def _limited(response: httpx2.Response) -> httpx2.Response:
        is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
        if response.is_error:
            response.stream = _Limited(response.stream, ERROR_LIMIT, cut=True)
        elif is_stream:
            response.stream = _RepairedEvents(response.stream)
        else:
            response.stream = _Repaired(_Limited(response.stream, MESSAGE_LIMIT, cut=False))
        return response

    async def aclose(self) -> None:
        if self._refreshing:
            with anyio.CancelScope(shield=True):
                await asyncio.wait(self._refreshing, timeout=_REFRESH_WAIT)
        await self._inner.aclose()


def _is_refresh(request: httpx2.Request) -> bool:
    is_form = request.headers.get("content-type") == "application/x-www-form-urlencoded"
    return is_form and b"grant_type=refresh_token" in request.read()


@asynccontextmanager
async def http_transport(
    spec: dict[str, Any], ask: Callable[[dict[str, Any]], Awaitable[Any]], trouble: Trouble
) -> AsyncIterator[tuple[Any, Any]]:
    """Open the streams of a server at a URL; tool calls are never sent twice.

    Args:
        spec: The server's specification from pi.
        ask: Asks the user through pi, to sign in.
        trouble: Records why the connection ended.
    """
    headers = spec.get("headers") or {}
    careful = _Careful(trouble)

    def client_of(headers: Any = None, timeout: Any = None, auth: Any = None) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(headers=headers, timeout=timeout or _TIMEOUT, auth=auth, transport=careful)

    async with sign_in(spec, ask) as (auth, careful.keep_tokens):
        if spec["transport"] == "sse":
            async with sse_client(spec["url"], headers=headers, auth=auth, httpx_client_factory=client_of) as streams:
                yield checked(*streams)
            return
        async with (
            client_of(headers, auth=auth) as client,
            streamable_http_client(spec["url"], http_client=client, max_sse_event_size=MESSAGE_LIMIT) as streams,
        ):
            yield checked(streams[0], _Settling(streams[1], careful))


class _Settling:
    """The stream to the server; with the first tool call nothing is repeated any more."""

    def __init__(self, stream: Any, careful: _Careful) -> None:
        self._stream = stream
        self._careful = careful

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def send(self, item: Any) -> None:
        if getattr(item.message, "method", "") == "tools/call":
            self._careful.may_repeat = False
        await self._stream.send(item)

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *exception: object) -> Any:
        return await self._stream.__aexit__(*exception)

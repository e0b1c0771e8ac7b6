"""A request and the bytes of its response, with aborts, timeouts and detection of responses that are not a stream.

The transport's errors are converted to ``RequestFailed``, the one error that codecs handle.
"""

from __future__ import annotations

import asyncio
import logging  # which asyncio has imported already
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self, cast

from pi_provider_kit.abort import AbortWatch
from pi_provider_kit.errors import transport_errors
from pi_provider_kit.json_values import compact_json, parse_json, request_json
from pi_provider_kit.progress import Progress

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine
    from types import TracebackType

    import httpx

    from pi_hookspecs.errors import RequestFailed
    from pi_hookspecs.provider import StreamOptions
    from pi_provider_kit.direct import Reply
    from pi_provider_kit.http_client import Http
    from pi_provider_kit.request import HttpRequest, Timeouts

__all__ = ["Exchange"]

_ERROR_BYTES = 262_144
"""Maximum bytes of an error body that are read."""

_ERROR_SECONDS = 10.0
"""Seconds for reading it."""

_WHOLE_BYTES = 64 * 1_048_576
"""Maximum bytes of a response that is read in one piece."""

_STREAM_BYTES = 512 * 1_048_576
"""Maximum bytes of a stream, whose events may be hundreds of times as long as their text."""

_BLANK = b"\xef\xbb\xbf \t\r\n"
"""White space and a byte order mark."""

_JSON, _LINES, _EVENTS = "application/json", "application/x-ndjson", "text/event-stream"


class Exchange:
    """A request and its response, from the first byte sent to the release of the connection.

    Attributes:
        progress: Where the reader records whether the bytes completed an event.
    """

    def __init__(
        self, http: Http, request: HttpRequest, options: StreamOptions, timeouts: Timeouts, *, accept: str
    ) -> None:
        self.progress = Progress(timeouts.progress)
        self._http = http
        self._request = request
        self._options = options
        self._timeouts = timeouts
        self._accept = accept
        self._watch = AbortWatch(options.signal)
        self.raise_if_aborted = self._watch.raise_if_aborted
        self._response: httpx.Response | Reply | None = None
        self._chunks: AsyncIterator[bytes] | None = None
        self._first = b""
        self._received, self._limit = 0, _STREAM_BYTES
        self._headers: dict[str, str] = {}
        self._sent: dict[str, str] = {}

    async def __aenter__(self) -> Self:
        try:
            await self._opened()
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._close()

    async def read(self) -> bytes:
        """Return the next bytes of the body, ``b""`` at its end."""
        if self._first:
            first, self._first = self._first, b""
            return first
        response, chunks = self._response, self._chunks
        if response is None or chunks is None:
            return b""
        try:
            while True:
                chunk = await self._watch(anext(chunks))
                if chunk:
                    break
        except StopAsyncIteration:
            return b""
        except transport_errors() as error:
            from pi_provider_kit.failure import transport_failure

            status = response.status_code
            raise transport_failure(error, self._request.url, self._timeouts, status=status) from error
        self._received += len(chunk)
        if self._received > self._limit:
            from pi_provider_kit.failure import oversized_failure

            raise oversized_failure(self._limit)
        return chunk

    async def read_whole(self) -> bytes:
        """Return the rest of the body in one piece."""
        self._limit = _WHOLE_BYTES
        pieces = []
        while chunk := await self.read():
            self.progress.note(advanced=False)  # it counts when it is complete
            pieces.append(chunk)
        return b"".join(pieces)

    def refusal(self, content: bytes) -> RequestFailed:
        """Return the failure for the response's head and ``content``."""
        from pi_provider_kit.failure import answer_failure, secrets_of

        status = self._response.status_code if self._response is not None else 0
        return answer_failure(
            status,
            self._headers,
            content,
            error_text=self._request.error_text,
            expected=self._accept,
            secrets=secrets_of(self._sent, self._options.api_key),
        )

    async def _opened(self) -> None:
        try:
            await self._open()
        except Exception as failure:
            if not self._options.max_retries:
                raise
            from pi_provider_kit.again import with_retries

            await with_retries(self._reopen, failure, self._options, self._watch)

    async def _reopen(self) -> None:
        if self._response is not None:
            await _stream_of(self._response).aclose()
            self._response = None
        await self._open()

    async def _open(self) -> None:
        self.raise_if_aborted()
        try:
            response = await self._watch(await self._asking())
        except transport_errors(UnicodeError) as error:  # the last: no host can be called that
            from pi_provider_kit.failure import transport_failure

            raise transport_failure(error, self._request.url, self._timeouts) from error
        self._response = response
        self._received, self._limit = 0, _STREAM_BYTES
        self.progress = Progress(self._timeouts.progress)
        self._headers = {name.lower(): value for name, value in response.headers.items()}
        # httpx's way through three generators per read is only needed where there is something to decompress.
        encoding = self._headers.get("content-encoding", "identity").strip().lower()
        encoded = encoding not in ("", "identity")
        if encoded and not _can_decode(encoding):
            from pi_provider_kit.failure import compressed_failure

            raise compressed_failure(encoding, response.status_code)
        self._chunks = _decoded(response) if encoded else _stream_of(response).__aiter__()
        if (log := logging.getLogger("pi.providers")).isEnabledFor(logging.INFO):
            from pi_provider_kit.failure import without_secrets

            log.info("%s %s: %d", self._request.method, without_secrets(self._request.url), response.status_code)
        if self._options.on_response is not None:
            await self._watch(self._options.on_response(response.status_code, dict(self._headers)))
        if response.status_code // 100 != 2:  # noqa: PLR2004 - RFC 9110, 15.3
            raise self.refusal(await self._rest())
        await self._check_kind()

    async def _check_kind(self) -> None:
        """Accept one JSON document in place of a stream; reject an HTML page or an error with status 200."""
        named = self._headers.get("content-type", "").startswith(self._accept)
        if self._accept == _JSON or (named and self._accept != _EVENTS):
            return
        begin = b""
        while not begin and (chunk := await self.read()):
            # Some gateways send white space while they wait, before a stream or before one JSON document.
            self._first = (self._first + chunk).lstrip(_BLANK)
            begin = self._first[:1]
            self.progress.note(advanced=bool(begin))
        if begin == b"<" or (begin in (b"{", b"[") and self._accept != _LINES):  # no such stream begins like that
            await self._take_whole()

    async def _take_whole(self) -> None:
        whole = self._request.from_whole
        if self._accept == _EVENTS and whole is not None and self._first[:1] != b"<":
            content = await self.read_whole()
            with suppress(ValueError):  # it is not JSON
                events = (compact_json(event).encode() for event in whole(parse_json(content)))
                self._first = b"".join(b"data: %s\n\n" % event for event in events)
            if self._first:
                return
            raise self.refusal(content)
        content, self._first = self._first, b""
        raise self.refusal(content + await self._rest())

    async def _asking(self) -> Coroutine[Any, Any, httpx.Response | Reply]:
        """Return what makes the request: without httpx, which takes long to import, where that can be."""
        request, timeouts = self._request, self._timeouts
        direct = await self._http.direct(request.url)
        transport = await self._http.transport() if direct is None else None
        headers, body = self._headers_and_body()
        waits = {"connect": timeouts.connect, "read": timeouts.idle, "first_byte": timeouts.first_byte}
        if direct is not None:
            return direct.ask(
                request.method, request.url, headers=headers, body=body, timeouts=waits, sent=request.on_sent
            )
        import httpx  # not earlier: Http imports it without its command line

        extensions = {"timeout": {**waits, "write": timeouts.idle, "pool": timeouts.connect}, "sent": request.on_sent}
        made = httpx.Request(request.method, request.url, headers=headers, content=body, extensions=extensions)
        return cast("httpx.AsyncBaseTransport", transport).handle_async_request(made)

    def _headers_and_body(self) -> tuple[dict[str, str], bytes | None]:
        request = self._request
        headers = {"accept": self._accept, "accept-encoding": "identity", "user-agent": self._http.user_agent}
        body = request.body
        if body is not None and not isinstance(body, bytes):
            body = request_json(body)
            headers["content-type"] = "application/json"
        if request.sign is not None:
            headers |= request.sign(body or b"")
        for more in (request.headers, self._options.headers or {}):
            headers.update({name.lower(): value.strip() for name, value in more.items()})
        self._sent = headers
        unusable = next((name for name, value in headers.items() if not (name + value).isascii()), None)
        if unusable is not None:
            from pi_provider_kit.failure import HttpFailed

            message = f"The header {unusable!r} contains a character that HTTP headers cannot have: check the key in it"
            raise HttpFailed(message, kind="url")
        return headers, body

    async def _rest(self) -> bytes:
        """Return the part of an error body that arrives within a short deadline."""
        from pi_hookspecs.errors import RequestFailed

        pieces: list[bytes] = []
        size = 0
        with suppress(TimeoutError, RequestFailed):
            async with asyncio.timeout(_ERROR_SECONDS):
                while size < _ERROR_BYTES and (chunk := await self.read()):
                    pieces.append(chunk)
                    size += len(chunk)
        return b"".join(pieces)

    async def _close(self) -> None:
        self._watch.close()
        if self._response is not None:
            await _stream_of(self._response).aclose()


def _stream_of(response: httpx.Response | Reply) -> httpx.AsyncByteStream:
    return cast("httpx.AsyncByteStream", response.stream)


def _can_decode(encoding: str) -> bool:
    """Whether httpx decompresses all of an encoding; it passes on what it does not know as it is."""
    from importlib.util import find_spec

    packages = {"gzip": "zlib", "deflate": "zlib", "identity": "zlib", "br": "brotli", "zstd": "zstandard"}
    return all(
        find_spec(packages.get(each.strip(), "")) if each.strip() in packages else False for each in encoding.split(",")
    )


def _decoded(response: httpx.Response | Reply) -> AsyncIterator[bytes]:
    """Return the body of an answer that a server compressed although it was not to."""
    from pi_provider_kit.direct import Reply
    from pi_provider_kit.http_client import import_httpx

    if isinstance(response, Reply):
        client = import_httpx()
        from pi_provider_kit.transport import HttpxBody

        body = HttpxBody(response.stream)
        response = client.Response(response.status_code, headers=response.headers, stream=body)
    return cast("httpx.Response", response).aiter_bytes()

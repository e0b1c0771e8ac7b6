"""One request of a codec: sent, watched for an abort and for silence, and read as events.

Here the transport's errors become ``RequestFailed``, the one error that codecs handle.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from attrs import field, frozen

from pi_hookspecs.values import Value
from pi_provider_kit._abort import AbortWatch

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable
    from types import TracebackType

    import httpx

    from pi_hookspecs.errors import RequestFailed
    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import StreamOptions
    from pi_provider_kit._http import Http

__all__ = [
    "HttpRequest",
    "Timeouts",
    "fetch_json",
    "final_payload",
    "stream_bytes",
    "stream_events",
    "stream_lines",
]

_ERROR_BYTES = 262_144
"""How much of an answer that is an error is read."""

_ERROR_SECONDS = 10.0
"""How long that may take."""

_NO_STREAMS = ("application/json", "application/x-ndjson")
"""What may begin like an error; nothing else does."""

_CONNECT_SECONDS = 15.0


@frozen(kw_only=True, eq=False, repr=False)
class HttpRequest(Value):
    """What to ask, and whom.

    Attributes:
        url: Where to; ``http`` or ``https``.
        body: Plain data, sent as JSON; bytes are sent as they are; None is no body.
        headers: Beside those that the kit sets; those of the options win over these.
        error_text: How a failure reads, with ``{status}`` and ``{body}`` (Completions: ``"{status}: {body}"``).
        sign: Makes further headers of the body as it is sent, for APIs that want it signed.
        on_sent: Called when the request has left and the answer is waited for: time to import what reads it. With some
            transports it is not called.
    """

    url: str
    body: Any = field(default=None, repr=False)
    headers: dict[str, str] = field(factory=dict, repr=False)
    method: str = "POST"
    error_text: str = "{status} {body}"
    sign: Callable[[bytes], dict[str, str]] | None = field(default=None, repr=False)
    on_sent: Callable[[], object] | None = field(default=None, repr=False)


@frozen(kw_only=True, eq=False, repr=False)
class Timeouts(Value):
    """How long each wait may take, in seconds; None is for ever.

    Attributes:
        connect: Until the connection stands, TLS included; from ``of`` never longer than the other two.
        first_byte: Until the answer begins.
        idle: Until the next byte of an answer that has begun (setting ``httpIdleTimeoutMs``).
    """

    connect: float | None = _CONNECT_SECONDS
    first_byte: float | None = 300.0
    idle: float | None = 300.0

    @classmethod
    def of(cls, options: StreamOptions) -> Timeouts:
        """Return the options' waits.

        ``timeout_ms`` bounds the first byte and each silence after it, and connecting where that would take longer:
        who waits 5 s for a silent server does not wait 15 s for one that is not there. 0 bounds only connecting.
        """
        if options.timeout_ms is None:
            return cls()
        seconds = options.timeout_ms / 1000
        if not seconds:
            return cls(first_byte=None, idle=None)
        return cls(connect=min(_CONNECT_SECONDS, seconds), first_byte=seconds, idle=seconds)


async def final_payload(payload: Any, model: Model, options: StreamOptions) -> Any:
    """Return the payload to send: what ``options.on_payload`` makes of it, if anything (pi.md 4.9).

    Raises:
        Aborted: ``options.signal`` was set while the hook was at work.
    """
    if options.on_payload is None:
        return payload
    with AbortWatch(options.signal) as watch:
        replacement = await watch(options.on_payload(payload, model))
    return payload if replacement is None else replacement


async def stream_events(
    http: Http, request: HttpRequest, options: StreamOptions, *, timeouts: Timeouts | None = None
) -> AsyncGenerator[tuple[str, bytes]]:
    """Send the request and yield the server-sent events of the answer as ``(name, data)``.

    Read it under ``contextlib.aclosing``. Stopping at the API's last event is right: the end of the body is waited
    for elsewhere, and the connection used again.

    Raises:
        RequestFailed: The request failed, before or in the midst of the answer (an ``HttpFailed``).
        Aborted: ``options.signal`` was set; within one turn of the event loop, also while connecting.
    """
    from pi_provider_kit._sse import SseDecoder

    async with _Exchange(http, request, options, timeouts, accept="text/event-stream") as exchange:
        decoder = SseDecoder()
        while chunk := await exchange.read():
            for event in decoder.feed(chunk):
                exchange.raise_if_aborted()
                yield event
        for event in decoder.close():
            yield event


async def stream_lines(
    http: Http, request: HttpRequest, options: StreamOptions, *, timeouts: Timeouts | None = None
) -> AsyncGenerator[bytes]:
    """Send the request and yield the answer's lines that are not empty (JSON lines), else as ``stream_events``."""
    from pi_provider_kit._sse import LineDecoder

    async with _Exchange(http, request, options, timeouts, accept="application/x-ndjson") as exchange:
        decoder = LineDecoder()
        while chunk := await exchange.read():
            for line in decoder.feed(chunk):
                exchange.raise_if_aborted()
                if line:
                    yield line
        if rest := decoder.close():  # its JSON tells whether it is whole
            yield rest


async def stream_bytes(
    http: Http, request: HttpRequest, options: StreamOptions, *, accept: str, timeouts: Timeouts | None = None
) -> AsyncGenerator[bytes]:
    """Send the request and yield the answer's bytes as they come, else as ``stream_events``.

    For formats with a decoder of their own; ``accept`` is the media type that the answer should have.
    """
    async with _Exchange(http, request, options, timeouts, accept=accept) as exchange:
        while chunk := await exchange.read():
            yield chunk


async def fetch_json(
    http: Http, request: HttpRequest, options: StreamOptions | None = None, *, timeouts: Timeouts | None = None
) -> Any:
    """Send the request and return the JSON of the answer; for lists of models and the like.

    Raises:
        RequestFailed: The request failed, or the answer is no JSON.
        Aborted: ``options.signal`` was set.
    """
    import orjson

    from pi_hookspecs.provider import StreamOptions

    async with _Exchange(http, request, options or StreamOptions(), timeouts, accept="application/json") as exchange:
        pieces = []
        while chunk := await exchange.read():
            pieces.append(chunk)
        content = b"".join(pieces)
        try:
            return orjson.loads(content)
        except ValueError as error:
            raise exchange.refusal(content) from error


class _Exchange:
    """A request and its answer, from the first byte sent to the connection given back."""

    def __init__(
        self, http: Http, request: HttpRequest, options: StreamOptions, timeouts: Timeouts | None, *, accept: str
    ) -> None:
        self._http = http
        self._request = request
        self._options = options
        self._timeouts = timeouts or Timeouts.of(options)
        self._accept = accept
        self._watch = AbortWatch(options.signal)
        self.raise_if_aborted = self._watch.raise_if_aborted
        self._response: httpx.Response | None = None
        self._chunks: AsyncIterator[bytes] | None = None
        self._first = b""
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
        import httpx

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
                    return chunk
        except StopAsyncIteration:
            return b""
        except httpx.HTTPError as error:
            from pi_provider_kit._failure import transport_failure

            status = response.status_code
            raise transport_failure(error, self._request.url, self._timeouts, status=status) from error

    def refusal(self, content: bytes) -> RequestFailed:
        """Return the failure that the answer's head and ``content`` tell of."""
        from pi_provider_kit._failure import answer_failure, secrets_of

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
            from pi_provider_kit._again import made_again

            await made_again(self._reopen, failure, self._options, self._watch)

    async def _reopen(self) -> None:
        if self._response is not None:
            await _stream_of(self._response).aclose()
            self._response = None
        await self._open()

    async def _open(self) -> None:
        self.raise_if_aborted()
        transport = await self._http.transport()
        import httpx  # not before: Http imports it without what is not needed

        try:
            response = await self._watch(transport.handle_async_request(self._built()))
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:  # the last: no host can be called that
            from pi_provider_kit._failure import transport_failure

            raise transport_failure(error, self._request.url, self._timeouts) from error
        self._response = response
        self._headers = {name.lower(): value for name, value in response.headers.items()}
        # httpx's way through three generators per read is only needed where there is something to decompress.
        encoded = self._headers.get("content-encoding", "identity") != "identity"
        self._chunks = response.aiter_bytes() if encoded else _stream_of(response).__aiter__()
        if self._options.on_response is not None:
            await self._watch(self._options.on_response(response.status_code, dict(self._headers)))
        if not response.is_success:
            raise self.refusal(await self._rest())
        await self._check_kind()

    async def _check_kind(self) -> None:
        """Refuse a page or a JSON error that comes with status 200 where a stream should be, or as one of events."""
        named = self._headers.get("content-type", "").startswith(self._accept)
        if self._accept in _NO_STREAMS or (named and self._accept != "text/event-stream"):
            return
        self._first = await self.read()
        if self._first.lstrip()[:1] in (b"<", b"{", b"["):  # no event stream begins like that
            content, self._first = self._first, b""
            raise self.refusal(content + await self._rest())

    def _built(self) -> httpx.Request:
        import httpx

        request, timeouts = self._request, self._timeouts
        headers = {"accept": self._accept, "accept-encoding": "identity", "user-agent": self._http.user_agent}
        body = request.body
        if body is not None and not isinstance(body, bytes):
            body = _encoded(body)
            headers["content-type"] = "application/json"
        if request.sign is not None:
            headers |= request.sign(body or b"")
        for more in (request.headers, self._options.headers or {}):
            headers.update({name.lower(): value.strip() for name, value in more.items()})
        self._sent = headers
        unusable = next((name for name, value in headers.items() if not (name + value).isascii()), None)
        if unusable is not None:
            from pi_provider_kit._failure import HttpFailed

            message = f"The header {unusable!r} has a character that HTTP headers cannot have: check the key in it"
            raise HttpFailed(message, kind="url")
        waits = {"connect": timeouts.connect, "read": timeouts.idle, "first_byte": timeouts.first_byte}
        return httpx.Request(
            request.method,
            request.url,
            headers=headers,
            content=body,
            extensions={
                "timeout": {**waits, "write": timeouts.idle, "pool": timeouts.connect},
                "sent": request.on_sent,
            },
        )

    async def _rest(self) -> bytes:
        """Return what comes of the body in short order; an error that trickles in is not waited for."""
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


def _encoded(body: Any) -> bytes:
    import orjson

    try:
        return orjson.dumps(body)
    except TypeError:  # a number beyond 64 bits, half a surrogate pair: a tool call that a model really made
        import json

        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _stream_of(response: httpx.Response) -> httpx.AsyncByteStream:
    from typing import cast

    return cast("httpx.AsyncByteStream", response.stream)

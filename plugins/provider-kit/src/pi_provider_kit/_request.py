"""One request of a codec: sent, watched for an abort and for silence, and read as events.

Here the transport's errors become ``RequestFailed``, the one error that codecs handle.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from attrs import field, frozen

from pi_hookspecs.errors import Aborted

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
    from types import TracebackType
    from typing import TypeVar

    import httpx

    from pi_hookspecs.errors import RequestFailed
    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import StreamOptions
    from pi_provider_kit._http import Http

    T = TypeVar("T")

__all__ = ["HttpRequest", "Timeouts", "fetch_json", "final_payload", "stream_events", "stream_lines"]

_ERROR_BYTES = 262_144
"""How much of an answer that is an error is read."""

_ERROR_SECONDS = 10.0
"""How long that may take."""


@frozen(kw_only=True)
class HttpRequest:
    """What to ask, and whom.

    Attributes:
        url: Where to; ``http`` or ``https``.
        body: Plain data, sent as JSON; bytes are sent as they are; None is no body.
        headers: Beside those that the kit sets; those of the options win over these.
        error_text: How a failure reads, with ``{status}`` and ``{body}`` (Completions: ``"{status}: {body}"``).
    """

    url: str
    body: Any = field(default=None, repr=False)
    headers: dict[str, str] = field(factory=dict, repr=False)
    method: str = "POST"
    error_text: str = "{status} {body}"


@frozen(kw_only=True)
class Timeouts:
    """How long each wait may take, in seconds; None is for ever.

    Attributes:
        connect: Until the connection stands, TLS included.
        first_byte: Until the answer begins.
        idle: Until the next byte of an answer that has begun (setting ``httpIdleTimeoutMs``).
    """

    connect: float | None = 15.0
    first_byte: float | None = 300.0
    idle: float | None = 300.0

    @classmethod
    def of(cls, options: StreamOptions) -> Timeouts:
        """Return the options' waits: ``timeout_ms`` bounds the first byte and each silence after it, 0 nothing."""
        if options.timeout_ms is None:
            return cls()
        seconds = options.timeout_ms / 1000 or None
        return cls(first_byte=seconds, idle=seconds)


async def final_payload(payload: Any, model: Model, options: StreamOptions) -> Any:
    """Return the payload to send: what ``options.on_payload`` makes of it, if anything (pi.md 4.9)."""
    if options.on_payload is None:
        return payload
    replacement = await options.on_payload(payload, model)
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
        self._aborted = False
        self._scope: asyncio.Timeout | None = None
        self._forget: Callable[[], None] | None = None
        self._response: httpx.Response | None = None
        self._chunks: AsyncIterator[bytes] | None = None
        self._first = b""
        self._headers: dict[str, str] = {}
        self._secrets: list[str] = []

    async def __aenter__(self) -> Self:
        signal = self._options.signal
        if signal is not None:
            self._forget = signal.on_abort(self._abort)
        try:
            await self._open()
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
                chunk = await self._watched(anext(chunks))
                if chunk:
                    return chunk
        except StopAsyncIteration:
            return b""
        except httpx.HTTPError as error:
            from pi_provider_kit._failure import begun_failure

            raise begun_failure(error, response.status_code, self._timeouts.idle) from error

    def raise_if_aborted(self) -> None:
        """Raise ``Aborted`` when the signal was set, also between two events of one read."""
        if self._aborted:
            signal = self._options.signal
            raise Aborted((signal.reason if signal is not None else None) or "Request was aborted")

    def refusal(self, content: bytes) -> RequestFailed:
        """Return the failure that the answer's head and ``content`` tell of."""
        from pi_provider_kit._failure import answer_failure

        status = self._response.status_code if self._response is not None else 0
        return answer_failure(
            status,
            self._headers,
            content,
            error_text=self._request.error_text,
            expected=self._accept,
            secrets=self._secrets,
        )

    async def _open(self) -> None:
        self.raise_if_aborted()
        transport = await self._http.transport()
        import httpx  # not before: Http imports it without what is not needed

        from pi_provider_kit._failure import unanswered_failure

        try:
            response = await self._watched(transport.handle_async_request(self._built()))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise unanswered_failure(error, self._request.url, self._timeouts.first_byte) from error
        self._response = response
        self._headers = {name.lower(): value for name, value in response.headers.items()}
        # httpx's way through three generators per read is only needed where there is something to decompress.
        encoded = self._headers.get("content-encoding", "identity") != "identity"
        self._chunks = response.aiter_bytes() if encoded else _stream_of(response).__aiter__()
        if self._options.on_response is not None:
            await self._watched(self._options.on_response(response.status_code, dict(self._headers)))
        if not response.is_success:
            raise self.refusal(await self._rest())
        await self._check_kind()

    async def _check_kind(self) -> None:
        """Refuse a page or a JSON error that comes with status 200 where a stream of events should be."""
        kind = self._headers.get("content-type", "")
        if self._accept != "text/event-stream" or kind.startswith(self._accept):
            return
        self._first = await self.read()
        if self._first.lstrip()[:1] in (b"<", b"{", b"["):  # no event stream begins like that
            content, self._first = self._first, b""
            raise self.refusal(content + await self._rest())

    def _built(self) -> httpx.Request:
        import httpx

        from pi_provider_kit._failure import HttpFailed, secrets_of

        request, timeouts = self._request, self._timeouts
        headers = {"accept": self._accept, "accept-encoding": "identity", "user-agent": self._http.user_agent}
        body = request.body
        if body is not None and not isinstance(body, bytes):
            body = _encoded(body)
            headers["content-type"] = "application/json"
        for more in (request.headers, self._options.headers or {}):
            headers.update({name.lower(): value.strip() for name, value in more.items()})
        self._secrets = secrets_of(headers, self._options.api_key)
        unusable = next((name for name, value in headers.items() if not value.isascii()), None)
        if unusable is not None:
            message = f"The header {unusable!r} has a character that HTTP headers cannot have: check the key in it"
            raise HttpFailed(message, kind="url")
        waits = {"connect": timeouts.connect, "read": timeouts.idle, "first_byte": timeouts.first_byte}
        return httpx.Request(
            request.method,
            request.url,
            headers=headers,
            content=body,
            extensions={"timeout": {**waits, "write": timeouts.idle, "pool": timeouts.connect}},
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

    async def _watched(self, work: Awaitable[T]) -> T:
        """Await ``work``; an abort ends it within one turn of the event loop.

        ``asyncio.timeout`` knows how to take back a cancellation that it caused; it must not surround a ``yield``,
        which is why each wait has its own.
        """
        if self._options.signal is None:
            return await work
        try:
            async with asyncio.timeout(0 if self._aborted else None) as self._scope:
                return await work
        except TimeoutError:
            self.raise_if_aborted()
            raise
        finally:
            self._scope = None

    def _abort(self) -> None:
        self._aborted = True
        if self._scope is not None:
            self._scope.reschedule(asyncio.get_running_loop().time())

    async def _close(self) -> None:
        if self._forget is not None:
            self._forget()
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

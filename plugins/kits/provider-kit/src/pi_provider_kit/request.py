"""A codec's HTTP request, its timeouts, and the functions that send it and decode the response."""

from __future__ import annotations

from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.values import Value
from pi_provider_kit.abort import AbortWatch
from pi_provider_kit.sse import LineDecoder, SseDecoder

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable

    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import StreamOptions
    from pi_provider_kit.http_client import Http

__all__ = [
    "HttpRequest",
    "StreamDecoder",
    "Timeouts",
    "data_of",
    "fetch_json",
    "final_payload",
    "observed",
    "stream_bytes",
    "stream_decoded",
    "stream_events",
    "stream_lines",
    "wants_sdk",
]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_CONNECT_SECONDS = 15.0

_SILENCE_SECONDS = 300.0

_PROGRESS_SECONDS = 600.0
"""Twice the longest silence: models that think for minutes send pings meanwhile, and the vendors' own clients give a
whole request ten minutes."""


@frozen(kw_only=True, eq=False, repr=False)
class HttpRequest(Value):
    """An HTTP request.

    Attributes:
        url: ``http`` or ``https``.
        body: Plain data, sent as JSON; bytes are sent as they are; None means no body.
        headers: Headers in addition to the kit's own; headers in the options take precedence.
        error_text: Template of error messages, with ``{status}`` and ``{body}`` (Completions: ``"{status}: {body}"``).
        sign: Returns further headers for the exact body that is sent, for APIs with signed requests.
        on_sent: Called when the request was sent, while waiting for the response: the time to import the reader. Some
            transports do not call it.
        from_whole: Converts the JSON of a response that is not streamed to the API's events, as plain data: some
            gateways and test servers do not stream. It returns nothing for JSON that is not an answer, which is then
            rejected; without this function all JSON is.
    """

    url: str
    body: Any = field(default=None, repr=False)
    headers: dict[str, str] = field(factory=dict, repr=False)
    method: str = "POST"
    error_text: str = "{status} {body}"
    sign: Callable[[bytes], dict[str, str]] | None = field(default=None, repr=False)
    on_sent: Callable[[], object] | None = field(default=None, repr=False)
    from_whole: Callable[[Any], Iterable[Any]] | None = field(default=None, repr=False)


@frozen(kw_only=True, eq=False, repr=False)
class Timeouts(Value):
    """Timeouts of a request, in seconds; None is no limit.

    Attributes:
        connect: Until the connection is established, TLS included; from ``of`` never longer than the other two.
        first_byte: Until the answer has begun, with all of its headers.
        idle: Until the next byte of an answer that has begun (setting ``httpIdleTimeoutMs``).
        progress: Until new content of the answer arrives (setting ``httpProgressTimeoutMs``). Comments, pings and
            incomplete events do not count.
    """

    connect: float | None = _CONNECT_SECONDS
    first_byte: float | None = _SILENCE_SECONDS
    idle: float | None = _SILENCE_SECONDS
    progress: float | None = _PROGRESS_SECONDS

    @classmethod
    def of(cls, options: StreamOptions) -> Timeouts:
        """Return the timeouts of the options.

        ``timeout_ms`` bounds the first byte and each silence after it, and connecting where that would take longer:
        with a timeout of 5 s for a silent server, connecting must not take 15 s. 0 bounds only connecting.
        The progress timeout is at least as long as that, unless ``progress_timeout_ms`` says otherwise.
        """
        seconds = _SILENCE_SECONDS if options.timeout_ms is None else _given(options.timeout_ms)
        if options.progress_timeout_ms is not None:
            progress = _given(options.progress_timeout_ms)
        else:
            progress = None if seconds is None else max(_PROGRESS_SECONDS, seconds)
        connect = _CONNECT_SECONDS if seconds is None else min(_CONNECT_SECONDS, seconds)
        return cls(connect=connect, first_byte=seconds, idle=seconds, progress=progress)

    @property
    def opening(self) -> float | None:
        """Timeout for connecting and all headers together, for clients without a separate limit for headers."""
        return None if self.connect is None or self.first_byte is None else self.connect + self.first_byte


def _given(milliseconds: int | None) -> float | None:
    """Return seconds; None, which is no limit, for 0 and None."""
    return milliseconds / 1000 if milliseconds else None


class StreamDecoder(Protocol[T_co]):
    """Decodes the bytes of a stream, regardless of how they are split into chunks."""

    def feed(self, chunk: bytes, /) -> Iterable[T_co]:
        """Return the items that this chunk completes.

        Raises:
            RequestFailed: It is invalid.
        """
        ...

    def close(self) -> Iterable[T_co]:
        """Return the remaining items at the end of the stream.

        Raises:
            RequestFailed: The last item is incomplete.
        """
        ...


async def final_payload(payload: Any, model: Model, options: StreamOptions) -> Any:
    """Return the payload to send, after ``options.on_payload``.

    Raises:
        Aborted: ``options.signal`` was set while the hook was running.
    """
    if options.on_payload is None:
        return payload
    with AbortWatch(options.signal) as watch:
        replacement = await watch(options.on_payload(payload, model))
    return payload if replacement is None else replacement


def stream_events(
    http: Http, request: HttpRequest, options: StreamOptions, *, timeouts: Timeouts | None = None
) -> AsyncGenerator[tuple[str, bytes]]:
    """Send the request and yield the server-sent events of the answer as ``(name, data)``.

    Read it under ``contextlib.aclosing``. Stop at the API's last event: the rest of the body is drained in the
    background, and the connection is reused.

    Raises:
        RequestFailed: The request failed, before or during the answer (an ``HttpFailed``).
        Aborted: ``options.signal`` was set; within one turn of the event loop, even while connecting.
    """
    events = stream_decoded(http, request, options, SseDecoder(), accept="text/event-stream", timeouts=timeouts)
    return observed(events, options, data_of)


def data_of(event: tuple[str, bytes]) -> Any:
    """Return the JSON of a server-sent event.

    Raises:
        ValueError: It has none.
    """
    from pi_provider_kit.json_values import parse_json

    return parse_json(event[1])


def observed(stream: AsyncGenerator[T], options: StreamOptions, parsed: Callable[[T], Any]) -> AsyncGenerator[T]:
    """Yield the items of a stream, of which ``options.on_stream_event`` gets those that are objects first.

    Args:
        stream: The stream; it is returned as it is if nobody reads its events.
        options: Options of the request.
        parsed: Returns what an item says, or raises ``ValueError``.
    """
    return stream if options.on_stream_event is None else _telling(stream, options.on_stream_event, parsed)


async def _telling(
    stream: AsyncGenerator[T], tell: Callable[[Any], Awaitable[None]], parsed: Callable[[T], Any]
) -> AsyncGenerator[T]:
    async with aclosing(stream):
        async for item in stream:
            data = None
            with suppress(ValueError):  # such as the word that ends a stream
                data = parsed(item)
            if isinstance(data, dict):
                await tell(data)
            yield item


def stream_lines(
    http: Http, request: HttpRequest, options: StreamOptions, *, timeouts: Timeouts | None = None
) -> AsyncGenerator[bytes]:
    """Send the request and yield the answer's lines that are not empty (JSON lines), otherwise as ``stream_events``."""
    return stream_decoded(http, request, options, _Lines(), accept="application/x-ndjson", timeouts=timeouts)


def stream_bytes(
    http: Http, request: HttpRequest, options: StreamOptions, *, accept: str, timeouts: Timeouts | None = None
) -> AsyncGenerator[bytes]:
    """Send the request and yield the answer's bytes as they arrive, otherwise as ``stream_events``.

    Any byte counts as progress here, unlike with ``stream_decoded``.
    """
    return stream_decoded(http, request, options, _Chunks(), accept=accept, timeouts=timeouts)


async def stream_decoded(
    http: Http,
    request: HttpRequest,
    options: StreamOptions,
    decoder: StreamDecoder[T],
    *,
    accept: str,
    timeouts: Timeouts | None = None,
) -> AsyncGenerator[T]:
    """Send the request and yield the items that a decoder returns, otherwise as ``stream_events``.

    For other formats; ``accept`` is the expected media type of the response.
    """
    from pi_provider_kit.exchange import Exchange

    async with Exchange(http, request, options, timeouts or Timeouts.of(options), accept=accept) as exchange:
        raise_if_aborted = exchange.raise_if_aborted
        while chunk := await exchange.read():
            each = None
            for each in decoder.feed(chunk):
                raise_if_aborted()
                yield each
            exchange.progress.note(advanced=each is not None)
        for each in decoder.close():
            yield each


async def fetch_json(
    http: Http, request: HttpRequest, options: StreamOptions | None = None, *, timeouts: Timeouts | None = None
) -> Any:
    """Send the request and return the JSON of the answer; for lists of models and the like.

    Raises:
        RequestFailed: The request failed, or the response is not JSON.
        Aborted: ``options.signal`` was set.
    """
    import orjson

    from pi_hookspecs.provider import StreamOptions
    from pi_provider_kit.exchange import Exchange

    options = options or StreamOptions()
    timeouts = timeouts or Timeouts.of(options)
    async with Exchange(http, request, options, timeouts, accept="application/json") as exchange:
        content = await exchange.read_whole()
        try:
            return orjson.loads(content)
        except ValueError as error:
            raise exchange.refusal(content) from error


class _Lines:
    """Lines that are not empty, including an unterminated last one: parsing its JSON shows whether it is complete."""

    def __init__(self) -> None:
        self._decoder = LineDecoder()

    def feed(self, chunk: bytes) -> list[bytes]:
        return [line for line in self._decoder.feed(chunk) if line]

    def close(self) -> list[bytes]:
        rest = self._decoder.close()
        return [rest] if rest else []


class _Chunks:
    """Bytes as they arrive."""

    def feed(self, chunk: bytes) -> tuple[bytes]:
        return (chunk,)

    def close(self) -> tuple[()]:
        return ()


def wants_sdk(model: Model, options: StreamOptions) -> bool:
    """Whether to use the vendor's own client, according to the options, else the model's data."""
    wanted = options.transport or (model.compat or {}).get("transport") or model.extra.get("transport")
    return bool(wanted == "sdk")

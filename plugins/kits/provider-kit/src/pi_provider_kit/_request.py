"""A request as a codec says it, how long it may take, and the forms in which its answer is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from attrs import field, frozen

from pi_hookspecs.values import Value
from pi_provider_kit._abort import AbortWatch
from pi_provider_kit._sse import LineDecoder, SseDecoder

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable

    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import StreamOptions
    from pi_provider_kit._http import Http

__all__ = [
    "HttpRequest",
    "StreamDecoder",
    "Timeouts",
    "fetch_json",
    "final_payload",
    "stream_bytes",
    "stream_decoded",
    "stream_events",
    "stream_lines",
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
    """What to ask, and whom.

    Attributes:
        url: Where to; ``http`` or ``https``.
        body: Plain data, sent as JSON; bytes are sent as they are; None is no body.
        headers: Beside those that the kit sets; those of the options win over these.
        error_text: How a failure reads, with ``{status}`` and ``{body}`` (Completions: ``"{status}: {body}"``).
        sign: Makes further headers of the body as it is sent, for APIs that want it signed.
        on_sent: Called when the request has left and the answer is waited for: time to import what reads it. With some
            transports it is not called.
        from_whole: Turns the JSON of an answer that came whole into the API's events, as plain data: some gateways and
            test servers do not stream. It returns nothing for JSON that is no answer, which is then refused, as all
            JSON is where this is None.
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
    """How long each wait may take, in seconds; None is for ever.

    Attributes:
        connect: Until the connection stands, TLS included; from ``of`` never longer than the other two.
        first_byte: Until the answer has begun, with all of its headers.
        idle: Until the next byte of an answer that has begun (setting ``httpIdleTimeoutMs``).
        progress: Until something comes that adds to the answer (setting ``httpProgressTimeoutMs``). Comments, pings and
            events that come in single bytes do not count.
    """

    connect: float | None = _CONNECT_SECONDS
    first_byte: float | None = _SILENCE_SECONDS
    idle: float | None = _SILENCE_SECONDS
    progress: float | None = _PROGRESS_SECONDS

    @classmethod
    def of(cls, options: StreamOptions) -> Timeouts:
        """Return the options' waits.

        ``timeout_ms`` bounds the first byte and each silence after it, and connecting where that would take longer:
        who waits 5 s for a silent server does not wait 15 s for one that is not there. 0 bounds only connecting.
        Progress is waited for at least as long as silence, unless ``progress_timeout_ms`` says otherwise.
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
        """Until an answer has begun, for clients without such a limit: connecting and all headers together."""
        return None if self.connect is None or self.first_byte is None else self.connect + self.first_byte


def _given(milliseconds: int | None) -> float | None:
    """Return seconds; None, which is no limit, for 0 and for what is not given."""
    return milliseconds / 1000 if milliseconds else None


class StreamDecoder(Protocol[T_co]):
    """Turns the bytes of a stream, however they were cut, into what they say."""

    def feed(self, chunk: bytes, /) -> Iterable[T_co]:
        """Return what this chunk completes.

        Raises:
            RequestFailed: It cannot be understood.
        """
        ...

    def close(self) -> Iterable[T_co]:
        """Return what is left when nothing more comes.

        Raises:
            RequestFailed: The last thing is not complete.
        """
        ...


async def final_payload(payload: Any, model: Model, options: StreamOptions) -> Any:
    """Return the payload to send: what ``options.on_payload`` makes of it, if anything.

    Raises:
        Aborted: ``options.signal`` was set while the hook was at work.
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

    Read it under ``contextlib.aclosing``. Stopping at the API's last event is right: the end of the body is waited
    for elsewhere, and the connection used again.

    Raises:
        RequestFailed: The request failed, before or in the midst of the answer (an ``HttpFailed``).
        Aborted: ``options.signal`` was set; within one turn of the event loop, also while connecting.
    """
    return stream_decoded(http, request, options, SseDecoder(), accept="text/event-stream", timeouts=timeouts)


def stream_lines(
    http: Http, request: HttpRequest, options: StreamOptions, *, timeouts: Timeouts | None = None
) -> AsyncGenerator[bytes]:
    """Send the request and yield the answer's lines that are not empty (JSON lines), else as ``stream_events``."""
    return stream_decoded(http, request, options, _Lines(), accept="application/x-ndjson", timeouts=timeouts)


def stream_bytes(
    http: Http, request: HttpRequest, options: StreamOptions, *, accept: str, timeouts: Timeouts | None = None
) -> AsyncGenerator[bytes]:
    """Send the request and yield the answer's bytes as they come, else as ``stream_events``.

    Any byte counts as progress here: ``stream_decoded`` knows better.
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
    """Send the request and yield what a decoder makes of the answer, else as ``stream_events``.

    For formats of their own; ``accept`` is the media type that the answer should have.
    """
    from pi_provider_kit._exchange import Exchange

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
        RequestFailed: The request failed, or the answer is no JSON.
        Aborted: ``options.signal`` was set.
    """
    import orjson

    from pi_hookspecs.provider import StreamOptions
    from pi_provider_kit._exchange import Exchange

    options = options or StreamOptions()
    timeouts = timeouts or Timeouts.of(options)
    async with Exchange(http, request, options, timeouts, accept="application/json") as exchange:
        content = await exchange.read_whole()
        try:
            return orjson.loads(content)
        except ValueError as error:
            raise exchange.refusal(content) from error


class _Lines:
    """Lines that are not empty, the last one included: whether that is whole shows when its JSON is parsed."""

    def __init__(self) -> None:
        self._decoder = LineDecoder()

    def feed(self, chunk: bytes) -> list[bytes]:
        return [line for line in self._decoder.feed(chunk) if line]

    def close(self) -> list[bytes]:
        rest = self._decoder.close()
        return [rest] if rest else []


class _Chunks:
    """Bytes as they come."""

    def feed(self, chunk: bytes) -> tuple[bytes]:
        return (chunk,)

    def close(self) -> tuple[()]:
        return ()

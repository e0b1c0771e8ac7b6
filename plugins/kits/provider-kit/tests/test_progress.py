"""Answers that keep the connection busy and say nothing, and answers that never end."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress

import httpx
import pytest

import pi_provider_kit.answer
import pi_provider_kit.exchange
import pi_provider_kit.progress
import pi_provider_kit.transport
from pi_core import is_context_overflow
from pi_hookspecs import RequestFailed, StreamOptions
from pi_provider_kit import (
    AnswerBuilder,
    HttpRequest,
    Timeouts,
    fetch_json,
    read_answer,
    stream_decoded,
    stream_events,
    stream_lines,
)
from pi_testing import for_each

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\n\r\n"
IMPATIENT = Timeouts(progress=0.2)
SOON = StreamOptions(progress_timeout_ms=200)
STUCK = "terminated: the answer made no progress for 0.2 s"


class Ticking:
    """A clock that a test turns."""

    def __init__(self, monkeypatch):
        self.now = 1000.0
        monkeypatch.setattr(pi_provider_kit.progress, "monotonic", lambda: self.now)


async def busy(wire, piece, kind=b"text/event-stream", before=b""):
    """Answer with the piece again and again, for as long as the client stays."""
    await wire.send(HEAD % kind + before)
    await for_ever(wire, piece)


async def headers_for_ever(wire):
    await wire.send(b"HTTP/1.1 200 OK\r\n")
    await for_ever(wire, b"x-more: 1\r\n")


async def for_ever(wire, piece):
    with suppress(ConnectionError):
        while True:
            await wire.send(piece)
            await asyncio.sleep(0.005)


async def collect(stream):
    received = []
    try:
        async with aclosing(stream) as events:
            async for event in events:
                received.append(event)  # noqa: PERF401 - a comprehension would lose what came before the failure
    except RequestFailed as failure:
        return received, failure
    pytest.fail("the stream ended well")


@pytest.mark.parametrize("piece", [b": ping\n\n", b"x", b"\n", b"event: ping\n\n"])
async def test_a_server_that_only_keeps_the_connection_busy_is_given_up(serve, http, piece):
    async with serve(lambda wire: busy(wire, piece, before=b"data: one\n\n")) as server:
        request = HttpRequest(url=server.url, body={})
        received, failure = await collect(stream_events(http, request, StreamOptions(), timeouts=IMPATIENT))

    assert received == [("message", b"one")]
    assert failure.kind == "stuck"
    assert str(failure).startswith(STUCK)


async def test_empty_lines_are_no_progress_of_json_lines(serve, http):
    async with serve(lambda wire: busy(wire, b"\n", b"application/x-ndjson")) as server:
        request = HttpRequest(url=server.url, body={})
        received, failure = await collect(stream_lines(http, request, StreamOptions(), timeouts=IMPATIENT))

    assert (received, failure.kind) == ([], "stuck")


async def test_a_custom_decoder_decides_what_counts_as_progress(serve, http):
    class Pairs:
        """Understands pairs of bytes; there never is a second one."""

        def feed(self, chunk):
            return []

        def close(self):
            return []

    async with serve(lambda wire: busy(wire, b"x", b"application/x-pairs")) as server:
        request = HttpRequest(url=server.url, body={})
        stream = stream_decoded(http, request, SOON, Pairs(), accept="application/x-pairs")
        received, failure = await collect(stream)

    assert (received, failure.kind) == ([], "stuck")


async def test_json_that_trickles_in_is_given_up(serve, http):
    async with serve(lambda wire: busy(wire, b" ", b"application/json")) as server:
        with pytest.raises(RequestFailed, match="made no progress"):
            await fetch_json(http, HttpRequest(url=server.url, method="GET"), timeouts=IMPATIENT)


async def test_headers_that_trickle_in_are_waited_for_once(serve, http):
    async with serve(headers_for_ever) as server:
        request, waits = HttpRequest(url=server.url, body={}), Timeouts(first_byte=0.1)
        received, failure = await collect(stream_events(http, request, StreamOptions(), timeouts=waits))

    assert (received, failure.kind) == ([], "timeout")
    assert "did not answer for 0.1 s" in str(failure)


async def test_a_proxy_s_answer_has_one_limit_too(http, monkeypatch):
    asked = []

    class Trickling(httpx.AsyncBaseTransport):
        """Stands for httpx's own transport, each of whose reads brings something in time."""

        async def handle_async_request(self, request):
            asked.append(request.url.host)
            await asyncio.Event().wait()

    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setattr(pi_provider_kit.transport, "proxied_transport", lambda *_: Trickling())
    request, waits = HttpRequest(url="http://acme.test/v1", body={}), Timeouts(connect=0.05, first_byte=0.05)
    received, failure = await collect(stream_events(http, request, StreamOptions(), timeouts=waits))

    assert (received, failure.kind, asked) == ([], "timeout", ["acme.test"])


class Words:
    """An ``AnswerReader`` of words, to which ``ping`` means nothing."""

    def __init__(self, model):
        self.builder = AnswerBuilder(model)
        self.finished = False
        self._opened = False

    def feed(self, word):
        if word == "ping":
            return
        if not self._opened:
            self._opened = True
            yield self.builder.text_start()
        yield self.builder.text(0, word)

    def end(self):
        return [self.builder.text_end(0), self.builder.done()]


async def answer_of(model, words, options=SOON):
    reader = Words(model)
    return [event async for event in read_answer(words, lambda: reader, options)]


async def test_events_that_add_nothing_are_no_progress(model, monkeypatch):
    clock = Ticking(monkeypatch)

    async def words():
        yield "so "
        yield "far"
        while True:
            clock.now += 0.02
            yield "ping"

    *_, last = await answer_of(model, words())

    assert last.type == "error"
    assert last.error.text == "so far"
    message, advice = last.error.error_message.split("\n", 1)
    assert message.startswith(STUCK)
    assert "httpProgressTimeoutMs" in advice


async def test_pings_between_the_words_of_a_slow_model_are_no_reason_to_end(model, monkeypatch):
    clock = Ticking(monkeypatch)

    async def words():
        for word in ("slow ", "ping", "and ", "ping", "sure"):
            clock.now += 0.16
            yield word

    *_, last = await answer_of(model, words())

    assert (last.type, last.message.text) == ("done", "slow and sure")


async def test_the_time_that_a_listener_takes_is_not_the_servers(model, monkeypatch):
    clock = Ticking(monkeypatch)

    async def words():
        yield "so far"
        yield "ping"
        yield " so good"

    reader, types = Words(model), []
    async for event in read_answer(words(), lambda: reader, SOON):
        types.append(event.type)
        clock.now += 60

    assert types[-1] == "done"


async def test_an_answer_without_an_end_is_cut_off_and_kept(model, monkeypatch):
    monkeypatch.setattr(pi_provider_kit.answer, "_ANSWER_LIMIT", 2 * 1_048_576)

    async def words():
        while True:
            yield "0123456789abcdef" * 8192

    *_, last = await answer_of(model, words())

    assert last.type == "error"
    assert 2 * 1_048_576 <= len(last.error.text) <= 2 * 1_048_576 + 131_072
    assert last.error.error_message.startswith("The answer was cut off because it is larger than 2 MB")
    assert not is_context_overflow(last.error)


async def test_a_stream_of_bytes_without_an_end_is_cut_off(serve, http, monkeypatch):
    monkeypatch.setattr(pi_provider_kit.exchange, "_STREAM_BYTES", 100_000)
    async with serve(lambda wire: busy(wire, b"data: %s\n\n" % (b"x" * 10_000))) as server:
        request = HttpRequest(url=server.url, body={})
        received, failure = await collect(stream_events(http, request, StreamOptions()))

    assert failure.kind == "oversized"
    assert received


async def test_json_without_an_end_is_cut_off(serve, http, monkeypatch):
    monkeypatch.setattr(pi_provider_kit.exchange, "_WHOLE_BYTES", 100_000)
    async with serve(lambda wire: busy(wire, b"[" * 10_000, b"application/json")) as server:
        with pytest.raises(RequestFailed, match="larger than 100000 bytes"):
            await fetch_json(http, HttpRequest(url=server.url, method="GET"))


@for_each(
    ("fields", "seconds"),
    [
        ({}, 600),
        ({"timeout_ms": 5000}, 600),
        ({"timeout_ms": 1_800_000}, 1800),
        ({"timeout_ms": 0}, None),
        ({"progress_timeout_ms": 0}, None),
        ({"progress_timeout_ms": 1500}, 1.5),
        ({"timeout_ms": 0, "progress_timeout_ms": 1500}, 1.5),
        ({"timeout_ms": 5000, "progress_timeout_ms": 1500}, 1.5),
    ],
)
def test_progress_is_waited_for_as_long_as_silence_at_least(fields, seconds):
    assert Timeouts.of(StreamOptions(**fields)).progress == seconds

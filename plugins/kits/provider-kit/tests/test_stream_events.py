"""A request as codecs make it: what arrives, and how each thing that can go wrong ends."""

from __future__ import annotations

import asyncio
import itertools
import json
import socket
from contextlib import aclosing

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_hookspecs import AbortController, Aborted, RequestFailed, StreamOptions
from pi_provider_kit import (
    Http,
    HttpFailed,
    HttpRequest,
    Timeouts,
    fetch_json,
    final_payload,
    stream_events,
    stream_lines,
)
from pi_testing.patience import PATIENCE

JSON = b"content-type: application/json"
HTML = b"content-type: text/html; charset=utf-8"


async def collect(http, url, options=None, timeouts=None, **fields):
    """Return what was received and how it ended."""
    received = []
    request = HttpRequest(url=url, **{"body": {"stream": True}, **fields})
    try:
        async with aclosing(stream_events(http, request, options or StreamOptions(), timeouts=timeouts)) as events:
            async for event in events:
                received.append(event)  # noqa: PERF401 - a comprehension would lose what came before the failure
    except RequestFailed as failure:
        return received, failure
    return received, None


async def test_events_arrive_and_the_request_has_the_expected_body(serve, http, options):
    async with serve(lambda wire: wire.events(b'{"n":1}', b'{"n":2}')) as server:
        received, failure = await collect(http, server.url, options, body={"text": "é"}, headers={"X-Api-Key": "k"})

    assert failure is None
    assert received == [("message", b'{"n":1}'), ("message", b'{"n":2}')]
    assert json.loads(server.bodies[0]) == {"text": "é"}
    headers = server.headers()
    assert headers["content-type"] == "application/json"
    assert headers["accept"] == "text/event-stream"
    assert headers["x-api-key"] == "k"
    assert headers["user-agent"].startswith("pi/")
    assert server.requests[0][0].startswith(b"POST /v1/messages HTTP/1.1\r\n")


async def test_the_reader_of_the_answer_is_notified_when_the_request_was_sent(serve, http):
    sent = asyncio.Event()

    async def after_that(wire):
        await sent.wait()
        await wire.events(b"x")

    async with serve(after_that) as server:
        received, failure = await collect(http, server.url, on_sent=sent.set)

    assert (received, failure) == ([("message", b"x")], None)


async def test_a_stream_can_be_read_without_the_names_of_its_events(serve, http, options):
    async with serve(lambda wire: wire.events(b'{"n":1}', b'{"n":2}')) as server:
        request = HttpRequest(url=server.url, body={})
        async with aclosing(stream_events(http, request, options)) as stream:
            received = [data async for _, data in stream]

    assert received == [b'{"n":1}', b'{"n":2}']


async def test_what_a_strict_encoder_refuses_is_sent_nevertheless(serve, http):
    async with serve(lambda wire: wire.events(b"x")) as server:
        await collect(http, server.url, body={"big": 2**70, "half": "a\ud800"})

    assert json.loads(server.bodies[0]) == {"big": 2**70, "half": "a?"}


async def test_headers_of_the_options_win_and_line_ends_around_a_key_are_taken_off(serve, http):
    options = StreamOptions(headers={"Authorization": "Bearer mine\n", "USER-AGENT": "tests"})
    async with serve(lambda wire: wire.events(b"x")) as server:
        await collect(http, server.url, options, headers={"authorization": "Bearer theirs"})

    headers = server.headers()
    assert (headers["authorization"], headers["user-agent"]) == ("Bearer mine", "tests")


async def test_on_response_is_called_for_good_and_bad_answers(serve, http):
    received = []

    async def on_response(status, headers):
        received.append((status, headers["x-kind"]))

    async def script(wire):
        status = b"200 OK" if len(server.requests) == 1 else b"500 Oops"
        await wire.whole(status, b"data: x\n\n", b"X-Kind: a", b"content-type: text/event-stream")

    async with serve(script) as server:
        for _ in range(2):
            await collect(http, server.url, StreamOptions(on_response=on_response))

    assert received == [(200, "a"), (500, "a")]


async def test_on_payload_may_replace_the_payload(model):
    async def replace(payload, model):
        return {**payload, "model": model.id} if payload else None

    options = StreamOptions(on_payload=replace)

    assert await final_payload({"a": 1}, model, options) == {"a": 1, "model": "m1"}
    assert await final_payload({}, model, options) == {}
    assert await final_payload({"a": 1}, model, StreamOptions()) == {"a": 1}


async def test_an_abort_does_not_wait_for_the_payload_hook(model):
    controller = AbortController()

    async def never(payload, model):
        asyncio.get_running_loop().call_soon(controller.abort, "enough")
        await asyncio.Event().wait()

    with pytest.raises(Aborted, match="enough"):
        await final_payload({}, model, StreamOptions(on_payload=never, signal=controller.signal))


async def test_a_codec_may_stop_at_the_last_event_and_the_connection_is_used_again(serve, http, monkeypatch):
    monkeypatch.setattr("pi_provider_kit.connection._DRAIN_SECONDS", 60)
    ended = asyncio.Event()

    async def script(wire):
        await wire.events(b"[DONE]", b"ignored", end=False)
        await asyncio.sleep(0.05)
        await wire.send(b"0\r\n\r\n")
        ended.set()

    async with serve(script) as server:
        for _ in range(2):
            request = HttpRequest(url=server.url, body={})
            async with aclosing(stream_events(http, request, StreamOptions())) as events:
                async for _, data in events:
                    if data == b"[DONE]":
                        break
            await ended.wait()
            ended.clear()
            for _ in range(20):
                await asyncio.sleep(0.005)  # turns of the loop in which the end is read

    assert server.connections == 1


# Faults before the answer


async def test_an_api_error_has_status_body_request_id_and_retry_delay(serve, http, options):
    body = b'{\n "type": "error",\n "error": {"message": "Slow down"}}'
    async with serve(
        lambda wire: wire.whole(b"429 Too Many Requests", body, JSON, b"request-id: req_1", b"retry-after: 7")
    ) as server:
        _, failure = await collect(http, server.url, options)

    assert str(failure) == '429 {"type":"error","error":{"message":"Slow down"}}'
    assert (failure.status, failure.request_id, failure.retry_after_ms) == (429, "req_1", 7000)


async def test_a_codec_words_errors_in_its_way(serve, http):
    async with serve(lambda wire: wire.whole(b"400 Bad Request", b'{"error":1}', JSON)) as server:
        _, failure = await collect(http, server.url, error_text="{status}: {body}")
        _, bare = await collect(http, server.url, error_text="{body}")

    assert (str(failure), str(bare)) == ('400: {"error":1}', '{"error":1}')


async def test_an_error_without_a_body_says_so(serve, http):
    async with serve(lambda wire: wire.whole(b"413 Payload Too Large", b"")) as server:
        _, failure = await collect(http, server.url)

    assert str(failure) == "413 status code (no body)"


async def test_an_answer_that_comes_before_the_request_was_read_is_received(http):
    async def refuse(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Payload Too Large\r\ncontent-length: 7\r\nconnection: close\r\n\r\ntoo big")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        _, failure = await collect(http, url, body=b"x" * 5_000_000)

    assert str(failure) == "413 too big"


async def test_an_html_error_page_becomes_its_title(serve, http):
    page = b"<!DOCTYPE html><html><head><title>502 Bad\n Gateway</title></head><body>" + b"<p>x</p>" * 9000
    async with serve(lambda wire: wire.whole(b"502 Bad Gateway", page, HTML)) as server:
        _, failure = await collect(http, server.url)

    assert str(failure) == "502 502 Bad Gateway (an HTML page, not an API response)"


async def test_a_body_made_to_hurt_is_only_shortened(serve, http):
    async with serve(lambda wire: wire.whole(b"500 Oops", b"[" * 200_000, JSON)) as server:
        _, nested = await collect(http, server.url)
    async with serve(lambda wire: wire.whole(b"500 Oops", b"<title><script" * 15_000, HTML)) as server:
        _, page = await collect(http, server.url)

    assert str(nested).endswith("[... (196000 more characters)")
    assert len(str(page)) < 300


async def test_a_redirect_is_refused(serve, http):
    location = b"location: https://user:pw@login.acme.test/sso?token=abcdefgh"
    async with serve(lambda wire: wire.whole(b"302 Found", b"", location)) as server:
        _, failure = await collect(http, server.url)

    assert failure.kind == "redirect"
    assert str(failure) == (
        "302 The server redirects to 'https://login.acme.test/sso', and redirects are not followed with a key"
    )
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("content", "kind", "says"),
    [
        (b"<html><title>Welcome</title></html>", HTML, "Welcome (an HTML page"),
        (b'{"object":"list","data":[]}', JSON, '{"object":"list","data":[]}'),
    ],
)
async def test_a_page_or_json_with_status_200_is_an_error(serve, http, content, kind, says):
    async with serve(lambda wire: wire.whole(b"200 OK", content, kind)) as server:
        received, failure = await collect(http, server.url)

    assert received == []
    assert failure.kind == "unexpected"
    assert says in str(failure)


@pytest.mark.parametrize("kind", [b"content-type: text/event-stream", JSON], ids=["stream", "JSON"])
async def test_an_error_disguised_as_an_answer_is_reported(serve, http, kind):
    body = b'\n {"error":{"message":"Overloaded"}}'
    async with serve(lambda wire: wire.whole(b"200 OK", body, kind)) as server:
        received, failure = await collect(http, server.url)

    assert received == []
    assert failure.kind == "event"
    assert str(failure) == '200 The server sent no events: {"error":{"message":"Overloaded"}}'


async def test_events_under_a_wrong_content_type_are_read(serve, http):
    async with serve(lambda wire: wire.whole(b"200 OK", b"data: x\n\n", b"content-type: text/plain")) as server:
        received, failure = await collect(http, server.url)

    assert (received, failure) == ([("message", b"x")], None)


async def test_a_key_that_the_server_repeats_is_not_shown(serve, http, options):
    echo = b'{"message":"bad key sk-secret-1234567890, header Bearer tok-abcdefgh"}'
    async with serve(lambda wire: wire.whole(b"401 Unauthorized", echo, JSON)) as server:
        _, failure = await collect(http, server.url, options, headers={"authorization": "Bearer tok-abcdefgh"})

    assert str(failure) == '401 {"message":"bad key [secret], header [secret]"}'
    assert "sk-secret" not in failure.body


async def test_a_refused_connection_says_where(http):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    _, failure = await collect(http, f"http://user:pw@localhost:{port}/v1")

    assert str(failure) == f"Connection error. Nothing answers at localhost:{port} (connection refused)"
    assert failure.kind == "refused"


async def test_a_name_that_does_not_resolve_is_reported(http):
    _, failure = await collect(http, "https://no-such-host.invalid/v1")

    assert failure.kind == "dns"
    assert str(failure).startswith("Connection error. The name 'no-such-host.invalid' cannot be resolved")


async def test_a_password_that_makes_the_base_url_unusable_is_not_shown(http):
    _, failure = await collect(http, "http://me:pa/ss-0123@localhost/v1")

    assert failure.kind == "url"
    assert "pa" not in str(failure).partition("cannot")[2]
    assert "ss-0123" not in str(failure)


@pytest.mark.parametrize(
    "url",
    [
        *("ftp://host/", "localhost:8080/v1", "", "http://", "http://[::1/", "http://localhost:99999", "http://h:0/"),
        *("http://a..b/", "http://xn--/", f"http://{'a' * 70}.test/"),
    ],
)
async def test_an_unusable_base_url_is_named(http, url):
    _, failure = await collect(http, url)

    assert failure.kind == "url"
    assert str(failure).startswith("The base URL")


async def test_an_invalid_port_is_reported(http):
    _, failure = await collect(http, "http://localhost:99999/v1?key=k-0123")

    assert str(failure) == "The base URL 'http://localhost:99999/v1' cannot be used: the port must be 1 to 65535"


async def test_a_key_that_is_invalid_in_a_header_is_not_shown(http):
    _, failure = await collect(http, "http://localhost:9", headers={"x-api-key": "sk-…"})

    assert (
        str(failure) == "The header 'x-api-key' contains a character that HTTP headers cannot have: check the key in it"
    )


async def test_a_header_that_cannot_be_called_so_is_named(http):
    _, failure = await collect(http, "http://localhost:9", headers={"é": "1"})

    assert str(failure).startswith("The header 'é' contains a character that HTTP headers cannot have")


async def test_a_server_that_takes_the_request_and_never_answers_ends_in_time(serve, http):
    async with serve(lambda wire: wire.silence()) as server:
        _, failure = await collect(http, server.url, timeouts=Timeouts(first_byte=0.05))

    assert failure.kind == "timeout"
    where = f"localhost:{server.port}"
    assert str(failure) == f"Connection error. {where} accepted the request but did not answer for 0.05 s"


async def test_a_connection_that_is_never_made_ends_in_time(serve, http):
    async with serve(lambda wire: wire.silence()) as server:  # it does not speak TLS, and says nothing
        url = server.url.replace("http:", "https:")
        _, failure = await collect(http, url, StreamOptions(timeout_ms=50))

    assert failure.kind == "connect"
    assert str(failure) == f"Connection error. No connection to localhost:{server.port} (not within 0.05 s)"


async def test_a_server_that_hangs_up_without_an_answer(serve, http):
    async def script(wire):
        wire.end()

    async with serve(script) as server:
        _, failure = await collect(http, server.url)

    assert failure.kind == "dropped"
    assert str(failure).startswith(f"Connection error. localhost:{server.port} did not answer the request")


async def test_a_key_is_not_shown_where_a_long_body_is_cut(serve, http, options):
    body = b"x" * 3990 + options.api_key.encode() + b"y" * 100
    async with serve(lambda wire: wire.whole(b"500 Oops", body)) as server:
        _, failure = await collect(http, server.url, options)

    assert "sk-secret"[:4] not in str(failure)
    assert "[secret]" in str(failure)


# Faults within the answer


@pytest.mark.parametrize("half", [b'data: {"text": "ha', b"data: \xf0\x9f", b"da", b"data: whole line\n"])
async def test_a_stream_that_is_cut_keeps_what_came_before(serve, http, half):
    async def script(wire):
        await wire.events(b"one", end=False)
        await wire.send(b"%x\r\n%s\r\n" % (len(half), half))
        await asyncio.sleep(0.02)
        wire.end()

    async with serve(script) as server:
        received, failure = await collect(http, server.url)

    assert received == [("message", b"one")]
    assert failure.kind == "dropped"
    assert str(failure).startswith("terminated: the connection was closed before the answer was complete")


async def test_a_reset_is_a_cut(serve, http):
    async def script(wire):
        await wire.events(b"one", end=False)
        await asyncio.sleep(0.02)
        wire.cut()

    async with serve(script) as server:
        received, failure = await collect(http, server.url)

    assert received == [("message", b"one")]
    assert str(failure).startswith("terminated: the connection was closed")


async def test_a_stalled_stream_says_how_long_it_waited(serve, http):
    async def script(wire):
        await wire.events(b"one", end=False)
        await wire.silence()

    async with serve(script) as server:
        received, failure = await collect(http, server.url, timeouts=Timeouts(idle=0.2))

    assert received == [("message", b"one")]
    assert str(failure) == "terminated: the answer stalled, nothing was received for 0.2 s"
    assert failure.kind == "stalled"


async def test_broken_chunks_are_a_cut(serve, http):
    async def script(wire):
        await wire.events(b"one", end=False)
        await wire.send(b"nonsense\r\n")

    async with serve(script) as server:
        received, failure = await collect(http, server.url)

    assert received == [("message", b"one")]
    assert "terminated" in str(failure)
    assert "invalid HTTP" in str(failure)


async def test_an_error_body_that_never_ends_is_not_waited_for(serve, http, monkeypatch):
    monkeypatch.setattr("pi_provider_kit.exchange._ERROR_SECONDS", 0.05)

    async def script(wire):
        await wire.send(b"HTTP/1.1 500 Oops\r\ncontent-length: 100\r\n\r\nhalf a word")
        await wire.silence()

    async with serve(script) as server:
        _, failure = await collect(http, server.url)

    assert str(failure) == "500 half a word"


async def test_ten_megabytes_in_one_event(serve, http):
    payload = b"x" * (10 * 1_048_576)
    async with serve(lambda wire: wire.events(payload)) as server:
        received, failure = await collect(http, server.url)

    assert failure is None
    assert [data == payload for _, data in received] == [True]


STREAM = b"event: a\ndata: Gr\xc3\xbc\xc3\x9fe\n\n: note\r\ndata: 1\r\ndata: 2\r\n\r\n"


@given(st.lists(st.integers(min_value=0, max_value=len(STREAM)), max_size=8))
def test_any_way_of_cutting_the_body_gives_the_same_events(places):
    edges = [0, *sorted(places), len(STREAM)]

    class Pieces(httpx.AsyncByteStream):
        async def __aiter__(self):
            for start, end in itertools.pairwise(edges):
                yield STREAM[start:end]

    answer = httpx.MockTransport(lambda request: httpx.Response(200, stream=Pieces()))

    async def run():
        return await collect(Http(lambda: answer), "http://mock.test/")

    assert asyncio.run(run()) == ([("a", "Grüße".encode()), ("message", b"1\n2")], None)


# Abort


async def aborted(http, url, controller):
    received = []
    request = HttpRequest(url=url, body={})
    try:
        async with aclosing(stream_events(http, request, StreamOptions(signal=controller.signal))) as events:
            async for event in events:
                received.append(event)
                if event[1] == b"stop here":
                    controller.abort("enough")
    except Aborted as ended:
        return received, str(ended)
    pytest.fail("the stream did not end in Aborted")


@pytest.mark.parametrize("begun", [False, True])
async def test_an_abort_ends_a_wait_and_the_connection(serve, http, begun):
    controller = AbortController()
    gone = asyncio.Event()

    async def script(wire):
        if begun:
            await wire.events(b"one", end=False)
        asyncio.get_running_loop().call_later(0.02, controller.abort, "enough")
        await wire.silence()
        gone.set()

    async with serve(script) as server:
        received, reason = await aborted(http, server.url, controller)
        async with asyncio.timeout(PATIENCE):
            await gone.wait()

    assert received == ([("message", b"one")] if begun else [])
    assert reason == "enough"


async def test_an_abort_ends_a_tls_handshake(serve, http):
    controller = AbortController()
    async with serve(lambda wire: wire.silence()) as server:
        asyncio.get_running_loop().call_later(0.02, controller.abort, "enough")
        received, reason = await aborted(http, server.url.replace("http:", "https:"), controller)

    assert (received, reason) == ([], "enough")


async def test_an_abort_ends_the_wait_for_an_error_s_body(serve, http):
    controller = AbortController()

    async def script(wire):
        await wire.send(b"HTTP/1.1 500 Oops\r\ncontent-length: 100\r\n\r\nhalf a word")
        asyncio.get_running_loop().call_later(0.02, controller.abort, "enough")
        await wire.silence()

    async with serve(script) as server:
        assert await aborted(http, server.url, controller) == ([], "enough")


async def test_an_abort_does_not_wait_for_the_answers_hook(serve, http):
    controller = AbortController()

    async def never(status, headers):
        controller.abort("enough")
        await asyncio.Event().wait()

    async with serve(lambda wire: wire.events(b"x")) as server:
        options = StreamOptions(signal=controller.signal, on_response=never)
        with pytest.raises(Aborted, match="enough"):
            _ = [event async for event in stream_events(http, HttpRequest(url=server.url, body={}), options)]


async def test_an_abort_stops_the_events_of_a_burst(serve, http):
    async with serve(lambda wire: wire.send(*[SSE_BURST])) as server:
        received, _ = await aborted(http, server.url, AbortController())

    assert received == [("message", b"stop here")]


SSE_BURST = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 38\r\n\r\n"
    b"data: stop here\n\ndata: never come\n\ndata:"
)


async def test_an_abort_before_the_request_sends_nothing(serve, http):
    controller = AbortController()
    controller.abort("too late")
    async with serve(lambda wire: wire.events(b"x")) as server:
        _, reason = await aborted(http, server.url, controller)

        assert (server.requests, reason) == ([], "too late")


async def test_an_abort_through_a_foreign_transport_works_too():
    controller = AbortController()

    class Never(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request):
            asyncio.get_running_loop().call_soon(controller.abort, "enough")
            await asyncio.Event().wait()

    http = Http(Never)
    assert await aborted(http, "http://mock.test", controller) == ([], "enough")
    await http.aclose()


async def test_a_cancelled_task_is_cancelled_not_aborted(serve, http):
    controller = AbortController()
    async with serve(lambda wire: wire.silence()) as server:
        task = asyncio.create_task(collect(http, server.url, StreamOptions(signal=controller.signal)))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


# Other shapes


async def test_lines_and_json_have_readers_of_their_own(serve, http):
    async def script(wire):
        await wire.whole(b"200 OK", b'{"a":1}\n\n{"b":2}', b"content-type: application/x-ndjson")

    async with serve(script) as server:
        request = HttpRequest(url=server.url, method="GET")
        lines = [line async for line in stream_lines(http, request, StreamOptions())]
        with pytest.raises(HttpFailed, match="x-ndjson where application/json was asked for"):
            await fetch_json(http, request)
    async with serve(lambda wire: wire.whole(b"200 OK", b'{"data":[]}', JSON)) as server:
        answer = await fetch_json(http, HttpRequest(url=server.url, method="GET"))

    assert lines == [b'{"a":1}', b'{"b":2}']
    assert answer == {"data": []}


def test_a_time_out_bounds_every_wait_and_zero_none_but_connecting():
    never = Timeouts(connect=15, first_byte=None, idle=None, progress=None)
    assert Timeouts.of(StreamOptions(timeout_ms=0)) == never
    assert Timeouts.of(StreamOptions(timeout_ms=1500)) == Timeouts(connect=1.5, first_byte=1.5, idle=1.5)
    assert Timeouts.of(StreamOptions(timeout_ms=60_000)) == Timeouts(connect=15, first_byte=60, idle=60)
    assert Timeouts.of(StreamOptions()) == Timeouts(first_byte=300, idle=300)


def test_requests_do_not_show_keys():
    request = HttpRequest(url="http://x", headers={"authorization": "Bearer tok-abcdefgh"}, body={"prompt": "private"})

    assert "tok-abcdefgh" not in repr(request)
    assert "private" not in repr(request)

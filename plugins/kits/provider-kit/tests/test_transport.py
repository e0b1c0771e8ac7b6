"""The transport against raw bytes on a real socket."""

from __future__ import annotations

import asyncio
import gzip
import socketserver
import ssl
import threading

import httpx
import pytest
import trustme
from hypothesis import given
from hypothesis import strategies as st

from pi_hookspecs import StreamOptions
from pi_provider_kit import Http, HttpFailed, HttpRequest, stream_events, tls_context
from pi_provider_kit.http_answer import Answer
from pi_provider_kit.transport import Transport
from pi_testing.patience import PATIENCE

HTTP_PIECES = [
    *(b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\n"),
    *(b"transfer-encoding: chunked\r\n", b"content-length: 3\r\n", b"connection: close\r\n", b"\r\n"),
    *(b"3\r\nabc\r\n", b"0\r\n\r\n", b"abc", b"HTTP/1.1 204 No Content\r\n\r\n", b"\r", b"\n"),
]

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


@pytest.fixture
async def client():
    async with httpx.AsyncClient(transport=Transport()) as client:
        yield client


async def test_a_connection_is_used_again(serve, client):
    async with serve(lambda wire: wire.send(OK)) as server:
        answers = [await client.post(server.url, content=b"body%d" % number) for number in range(3)]

    assert [answer.text for answer in answers] == ["ok"] * 3
    assert server.bodies == [b"body0", b"body1", b"body2"]
    assert server.connections == 1


async def test_requests_at_the_same_time_have_connections_of_their_own(serve, client):
    async with serve(lambda wire: wire.send(OK)) as server:
        await asyncio.gather(*(client.get(server.url) for _ in range(3)))

        assert server.connections == 3


async def test_interim_answers_are_passed_over(serve, client):
    interim = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"
    async with serve(lambda wire: wire.send(interim, OK)) as server:
        answer = await client.get(server.url)

    assert (answer.status_code, answer.text, "link" in answer.headers) == (200, "ok", False)


async def test_a_body_may_end_with_the_connection(serve, client):
    async def script(wire):
        await wire.send(b"HTTP/1.1 200 OK\r\n\r\nall", b" of it")
        wire.end()

    async with serve(script) as server:
        answer = await client.get(server.url)

    assert answer.text == "all of it"


async def test_trailers_and_a_head_request_do_not_confuse_the_next_one(serve, client):
    chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx-sum: 1\r\n\r\n"
    async with serve(lambda wire: wire.send(chunked)) as server:
        first = await client.get(server.url)
        second = await client.get(server.url)
    async with serve(lambda wire: wire.send(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n")) as server:
        head = await client.head(server.url)

    assert (first.text, second.text, "x-sum" in first.headers) == ("ok", "ok", False)
    assert head.headers["content-length"] == "10"


async def test_a_connection_that_the_server_gave_up_is_replaced(serve, client):
    async def script(wire):
        if len(server.requests) == 2:  # the second request meets a connection that is going down
            wire.cut()
        else:
            await wire.send(OK)

    async with serve(script) as server:
        await client.get(server.url)
        answer = await client.get(server.url)

    assert answer.text == "ok"
    assert server.connections == 2


async def test_a_fresh_connection_without_an_answer_is_not_asked_twice(serve, client):
    async def script(wire):
        wire.end()

    async with serve(script) as server:
        with pytest.raises(httpx.RemoteProtocolError):
            await client.get(server.url)

    assert len(server.requests) == 1


async def test_what_is_not_http_is_an_error(serve, client):
    async with serve(lambda wire: wire.send(b"SSH-2.0-OpenSSH_9.6\r\n")) as server:
        with pytest.raises(httpx.RemoteProtocolError, match="invalid HTTP"):
            await client.get(server.url)


@given(st.lists(st.binary(max_size=20) | st.sampled_from(HTTP_PIECES), max_size=20), st.booleans())
def test_no_bytes_make_the_parser_raise(pieces, lost):
    answer = Answer()
    for piece in pieces:
        if not answer.feed(piece):
            break
    answer.cut(ConnectionResetError("reset") if lost else None)

    assert answer.complete or answer.error is not None


async def test_endless_headers_are_refused(serve, client):
    async with serve(lambda wire: wire.send(b"HTTP/1.1 200 OK\r\n", b"x-more: %s\r\n" % (b"y" * 60_000) * 8)) as server:
        with pytest.raises(httpx.RemoteProtocolError, match="headers"):
            await client.get(server.url)


async def test_data_after_the_answer_costs_the_connection_only(serve, client):
    async with serve(lambda wire: wire.send(OK + OK)) as server:
        first = await client.get(server.url)
        second = await client.get(server.url)

    assert (first.text, second.text) == ("ok", "ok")
    assert server.connections == 2


async def test_a_reader_that_is_slow_stops_the_socket(serve):
    body = b"x" * (8 * 1_048_576)
    transport = Transport()
    async with serve(lambda wire: wire.whole(b"200 OK", body)) as server:
        response = await transport.handle_async_request(httpx.Request("GET", server.url))
        (connection,) = transport._pool._origins
        async with asyncio.timeout(PATIENCE):
            while not connection._paused:  # noqa: ASYNC110 - the connection has no such event
                await asyncio.sleep(0.01)
        waiting = connection._waiting
        received = await response.aread()
        await transport.aclose()

    assert 1_048_576 < waiting < 2 * 1_048_576
    assert received == body


async def test_a_request_whose_sender_fails_when_it_has_left_keeps_no_connection(serve):
    gone = asyncio.Event()

    async def script(wire):
        await wire.silence()
        gone.set()

    def sent():
        raise ImportError("no reader")

    transport = Transport()
    async with serve(script) as server:
        with pytest.raises(ImportError, match="no reader"):
            await transport.handle_async_request(httpx.Request("GET", server.url, extensions={"sent": sent}))
        async with asyncio.timeout(PATIENCE):
            await gone.wait()

    assert not transport._pool._origins


async def test_pieces_of_one_read_come_joined(serve):
    transport = Transport()

    async def script(wire):
        await wire.send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 100 + b"0\r\n\r\n")

    async with serve(script) as server:
        response = await transport.handle_async_request(httpx.Request("GET", server.url))
        pieces = [piece async for piece in response.stream]
        await response.aclose()
        await transport.aclose()

    assert pieces == [b"x" * 100]


async def test_a_header_with_a_line_break_is_named_but_not_shown(client):
    request = httpx.Request("GET", "http://localhost:9/", headers={"x-api-key": "sk-1\r\nx-evil: 1"})

    with pytest.raises(httpx.LocalProtocolError, match="'x-api-key' contains a line break") as raised:
        await client.send(request)

    assert "sk-1" not in str(raised.value)


async def test_compressed_answers_are_read_although_none_was_asked_for(serve, http):
    packed = gzip.compress(b"data: zipped\n\n")

    async def script(wire):
        await wire.whole(b"200 OK", packed, b"content-type: text/event-stream", b"content-encoding: gzip")

    async with serve(script) as server:
        events = [event async for event in stream_events(http, HttpRequest(url=server.url), StreamOptions())]

    assert events == [("message", b"zipped")]
    assert server.headers()["accept-encoding"] == "identity"


class Plain(socketserver.BaseRequestHandler):
    """Answers in a thread, so that no loop of a test holds the server's sockets."""

    def handle(self):
        while self.request.recv(65_536):
            self.request.sendall(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9\r\n\r\ndata: x\n\n"
            )


@pytest.fixture
def threaded_url():
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Plain) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


def test_connections_are_closed_with_the_loop(threaded_url):
    http = Http()

    async def run():
        request = HttpRequest(url=threaded_url)
        events = [event async for event in stream_events(http, request, StreamOptions())]
        transport = await http.transport()
        return events, [len(idle) for idle in transport._pool._idle.values()]

    first = asyncio.run(run())
    second = asyncio.run(run())  # another loop, another transport; a socket left open would be a warning, an error here

    assert first == second == ([("message", b"x")], [1])
    assert all(loop.is_closed() for loop in http._open)


@pytest.fixture
def authority():
    return trustme.CA()


@pytest.fixture
def tls(authority):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    return context


@pytest.fixture
def trusted(authority, tmp_path, monkeypatch):
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))


@pytest.mark.usefixtures("trusted")
async def test_tls_trusts_what_ssl_cert_file_names(serve, http, tls):
    async with serve(lambda wire: wire.events(b"secret"), ssl=tls) as server:
        for _ in range(2):
            events = [event async for event in stream_events(http, HttpRequest(url=server.url), StreamOptions())]
            await http.aclose()

    assert events == [("message", b"secret")]


async def test_an_unknown_certificate_is_refused(serve, http, tls):
    async with serve(lambda wire: wire.events(b"secret"), ssl=tls) as server:
        with pytest.raises(HttpFailed) as raised:
            [event async for event in stream_events(http, HttpRequest(url=server.url), StreamOptions())]

    assert raised.value.kind == "tls"
    assert str(raised.value).startswith(f"Connection error. The certificate of localhost:{server.port} is not trusted")
    assert server.requests == []


async def test_node_s_variable_adds_certificates(serve, http, tls, authority, tmp_path, monkeypatch):
    authority.cert_pem.write_to_path(str(tmp_path / "own.pem"))
    monkeypatch.setenv("NODE_EXTRA_CA_CERTS", str(tmp_path / "own.pem"))
    async with serve(lambda wire: wire.events(b"secret"), ssl=tls) as server:
        events = [event async for event in stream_events(http, HttpRequest(url=server.url), StreamOptions())]
        await http.aclose()

    assert events == [("message", b"secret")]


async def test_an_untrusted_certificate_tells_of_a_wrong_variable_of_node(serve, http, tls, tmp_path, monkeypatch):
    monkeypatch.setenv("NODE_EXTRA_CA_CERTS", str(tmp_path / "gone.pem"))
    async with serve(lambda wire: wire.events(b"secret"), ssl=tls) as server:
        with pytest.raises(HttpFailed, match=r"not trusted .*; NODE_EXTRA_CA_CERTS names '.*gone\.pem'.*no such file"):
            [event async for event in stream_events(http, HttpRequest(url=server.url), StreamOptions())]


@pytest.mark.parametrize(
    ("variable", "value", "reason"),
    [
        ("SSL_CERT_FILE", "gone.pem", "no such file or directory"),
        ("SSL_CERT_FILE", ".", "is a directory"),
        ("SSL_CERT_FILE", "text.pem", "no certificate in PEM format"),
        ("SSL_CERT_DIR", "gone", "not a folder"),
        ("SSL_CERT_DIR", "text.pem", "not a folder"),
    ],
)
async def test_a_wrong_variable_is_named_with_its_value(
    serve, http, tls, tmp_path, monkeypatch, variable, value, reason
):
    (tmp_path / "text.pem").write_text("no certificate")
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv(variable, str(tmp_path / value))
    async with serve(lambda wire: wire.events(b"secret"), ssl=tls) as server:
        with pytest.raises(HttpFailed) as raised:
            [event async for event in stream_events(http, HttpRequest(url=server.url), StreamOptions())]

    assert variable in str(raised.value)
    assert repr(str(tmp_path / value)) in str(raised.value)
    assert reason in str(raised.value)
    assert raised.value.kind == "certificates"


async def test_tls_to_a_server_without_it_fails_clearly(serve, http):
    async def script(wire):
        pytest.fail("no request should arrive")

    async with serve(script) as server:
        server.url = server.url.replace("http:", "https:")

        async def answer(reader, writer):
            await reader.read(1)
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            writer.close()

        plain = await asyncio.start_server(answer, "127.0.0.1", 0)
        url = f"https://localhost:{plain.sockets[0].getsockname()[1]}/"
        with pytest.raises(HttpFailed, match=r"^Connection error\. No TLS connection") as raised:
            [event async for event in stream_events(http, HttpRequest(url=url), StreamOptions())]
        plain.close()

    assert raised.value.kind == "tls"


def test_a_vendor_s_client_gets_one_tls_context_until_the_certificates_change(monkeypatch, tmp_path):
    first, again = tls_context(httpx), tls_context(httpx)
    trustme.CA().cert_pem.write_to_path(tmp_path / "own.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "own.pem"))

    assert again is first
    assert tls_context(httpx) is not first

"""Bodies that are no stream of events although one was asked for, whole and in pieces."""

from __future__ import annotations

from contextlib import aclosing
from itertools import pairwise

import pytest

from pi_hookspecs import RequestFailed, StreamOptions
from pi_provider_kit import HttpRequest, stream_events

EVENTS = b'data: {"n":1}\n\n'


async def collect(serve, http, body, cuts, *headers, status=b"200 OK"):
    """Return the events and the failure of a body that arrives in pieces."""

    async def script(wire):
        edges = [0, *cuts, len(body)]
        lines = (b"HTTP/1.1 " + status, *headers, b"transfer-encoding: chunked")
        await wire.send(b"\r\n".join(lines) + b"\r\n\r\n")
        await wire.send(
            *(b"%x\r\n%s\r\n" % (end - begin, body[begin:end]) for begin, end in pairwise(edges) if end > begin)
        )
        await wire.send(b"0\r\n\r\n")

    def from_whole(answer):
        return [answer] if isinstance(answer, dict) and "n" in answer else []

    received = []
    async with serve(script) as server:
        request = HttpRequest(url=server.url, body={}, from_whole=from_whole)
        try:
            async with aclosing(stream_events(http, request, StreamOptions())) as events:
                async for event in events:
                    received.append(event)  # noqa: PERF401 - a comprehension would lose what came before the failure
        except RequestFailed as failure:
            return received, failure
    return received, None


BLANKS = b"\n   \r\n\n"


@pytest.mark.parametrize("blanks", [b"", BLANKS, b"\xef\xbb\xbf", BLANKS * 50], ids=len)
@pytest.mark.parametrize("cut", ["whole", "after the blanks", "everywhere"])
@pytest.mark.parametrize("kind", [b"content-type: text/event-stream", b"content-type: application/json"])
@pytest.mark.parametrize("body", [b'{"n":1}', EVENTS, b'{\n "n": 1\n}\n'])
async def test_white_space_before_an_answer_is_no_answer(serve, http, blanks, cut, kind, body):
    body = blanks + body
    cuts = {"whole": [], "after the blanks": [len(blanks)], "everywhere": range(1, len(body))}[cut]

    assert await collect(serve, http, body, list(cuts), kind) == ([("message", b'{"n":1}')], None)


@pytest.mark.parametrize("blanks", [b"", BLANKS])
@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize(
    "body",
    [
        b'{"error": {"message": "No room.", "code": 503}}',
        b'{"error": "No room."}',
        b'{"detail": "No room."}',
        b'{"code": 503, "message": "No room."}',
        b'[{"error": {"message": "No room."}}]',
        b"<html><title>No room.</title></html>",
    ],
)
async def test_an_error_in_place_of_a_stream_is_shown(serve, http, blanks, cut, body):
    body = blanks + body
    received, failure = await collect(serve, http, body, list(range(1, len(body))) if cut else [])

    assert received == []
    assert "No room." in str(failure)
    assert failure.status == (503 if b"503" in body else 200)


@pytest.mark.parametrize("body", [b"No room.", b"No room.\n", b"No\nroom.", b"error: No room.", b"null", b"true"])
async def test_a_text_in_place_of_a_stream_is_an_error_event(serve, http, body):
    (event,), failure = await collect(serve, http, body, list(range(1, len(body))))

    assert failure is None
    assert event == ("error", body.removeprefix(b"error: ").rstrip(b"\n"))


@pytest.mark.parametrize("encoding", [b"br", b"x-own", b"gzip, br"])
@pytest.mark.parametrize("status", [b"200 OK", b"503 Busy"])
async def test_a_compression_that_cannot_be_read_is_named(serve, http, monkeypatch, encoding, status):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name == "zlib" or None)
    _, failure = await collect(serve, http, b"\x1b\x00", [], b"content-encoding: " + encoding, status=status)

    assert f"compressed its answer as {encoding.decode()!r}" in str(failure)
    assert failure.status == int(status[:3])
    assert "Turn compression off" in failure.advice

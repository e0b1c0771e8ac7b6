"""Answers of other formats than lines and events, requests that are signed, and failures that know what to do."""

from __future__ import annotations

from contextlib import aclosing

import pytest

from pi_hookspecs import Model, RequestFailed, StreamOptions
from pi_provider_kit import Http, HttpFailed, HttpRequest, explained, stream_bytes
from pi_testing.fake_servers import Answer, FakeServer, html_page

KIND = "application/vnd.example.frames"


@pytest.fixture
async def asked():
    """Ask a server that answers with this; return the server and the bytes."""
    http = Http()
    async with FakeServer() as server:

        async def ask(answer, **fields):
            server.answers(answer)
            request = HttpRequest(url=f"{server.url}/x", body={"a": 1}, **fields)
            async with aclosing(stream_bytes(http, request, StreamOptions(), accept=KIND)) as chunks:
                return server, b"".join([chunk async for chunk in chunks])

        yield ask
    await http.aclose()


async def test_bytes_come_as_they_are(asked):
    server, data = await asked(Answer(headers={"content-type": KIND}, pieces=(b"\0\r", b"\n\xff")))

    assert data == b"\0\r\n\xff"
    assert server.request.headers["accept"] == KIND


async def test_a_page_instead_is_refused(asked):
    with pytest.raises(RequestFailed, match="Some proxy"):
        await asked(html_page(200, "Some proxy"))


async def test_what_signs_sees_the_body_as_it_is_sent(asked):
    signed = []

    def sign(content):
        signed.append(content)
        return {"authorization": "signature"}

    server, _ = await asked(Answer(headers={"content-type": KIND}), sign=sign)

    assert signed == [server.request.body] == [b'{"a":1}']
    assert server.request.headers["authorization"] == "signature"


def test_a_failure_that_knows_what_to_do_says_it_instead():
    failure = HttpFailed("403 Forbidden.", kind="status", status=403)
    failure.advice = "Sign in."
    model = Model(id="m", name="M", api="a", provider="p")

    assert explained(failure, model) == "403 Forbidden.\nSign in."

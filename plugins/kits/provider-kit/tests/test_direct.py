"""Requests that need no httpx are what httpx would make of them; all others go through httpx."""

from __future__ import annotations

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_hookspecs import StreamOptions
from pi_provider_kit import HttpRequest, stream_events
from pi_provider_kit.direct import Direct
from pi_provider_kit.proxies import Proxies
from pi_testing import for_each

ANSWER = b"data: x\n\n"


class Recorded:
    """A pool that keeps what it is asked and fails."""

    def __init__(self):
        self.asked = None

    async def ask(self, origin, message, timeouts, sent):
        head, _, body = message.partition(b"\r\n\r\n")
        first, *headers = head.split(b"\r\n")
        self.asked = (origin, first, sorted(headers), body)  # the order of headers means nothing
        raise EOFError


async def sent_directly(method, url, headers, body):
    pool = Recorded()
    with pytest.raises(EOFError):
        await Direct(pool, Proxies({})).ask(method, url, headers=headers, body=body, timeouts={}, sent=None)
    return pool.asked


async def sent_by_httpx(method, url, headers, body):
    from pi_provider_kit.transport import Transport

    pool = Recorded()
    with pytest.raises(EOFError):
        await Transport(Proxies({}), pool).handle_async_request(
            httpx.Request(method, url, headers=headers, content=body)
        )
    return pool.asked


urls = st.builds(
    "{}://{}{}{}{}".format,
    st.sampled_from(["http", "https"]),
    st.from_regex(r"[a-z0-9-]{1,5}(\.[a-z0-9-]{1,5}){0,2}", fullmatch=True),
    st.sampled_from(["", ":80", ":443", ":8080", ":0", ":70000"]),
    st.text("abcXYZ0189/.:@!$&*+,;=~_-%\\ \u00e9#[]'()", max_size=20).map(lambda path: f"/{path}" if path else ""),
    st.sampled_from(["", "?beta=true", "?alt=sse&key=a/b", "?q=%20"]),
)


headers = st.dictionaries(st.sampled_from(["accept", "x-api-key", "host", "content-length"]), st.just("7"))


@given(urls, headers, st.sampled_from(["POST", "GET", "HEAD"]), st.sampled_from([b"{}", None]))
async def test_a_request_is_sent_as_httpx_would_send_it(url, headers, method, body):
    if not Direct(Recorded(), Proxies({})).can_reach(url):
        return

    assert await sent_directly(method, url, headers, body) == await sent_by_httpx(method, url, headers, body)


@for_each(
    "url",
    [
        "http://host/a%20b",
        "http://host/a b",
        "http://host/../a",
        "http://user:password@host/",
        "http://[::1]/",
        "http://b\u00fccher.example/",
        "http://xn--bcher-kva.example/",
        "http://HOST/",
        "http://host:0/",
        "http://host:70000/",
        "ftp://host/",
        "host",
    ],
)
def test_a_url_that_httpx_would_change_or_refuse_goes_through_httpx(url):
    assert not Direct(Recorded(), Proxies({})).can_reach(url)


@pytest.mark.parametrize("url", ["https://api.anthropic.com/v1/messages", "http://127.0.0.1:8080/v1?beta=true"])
def test_the_urls_of_models_are_plain(url):
    assert Direct(Recorded(), Proxies({})).can_reach(url)


def test_a_url_with_a_proxy_goes_through_httpx(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "localhost")
    direct = Direct(Recorded(), Proxies({"https": "http://proxy:3128"}))

    assert not direct.can_reach("https://host/")
    assert direct.can_reach("http://host/")
    assert direct.can_reach("https://localhost/")


async def test_an_unusual_url_is_answered_too(serve, http):
    async def script(wire):
        await wire.whole(b"200 OK", ANSWER, b"content-type: text/event-stream")

    async with serve(script) as server:
        request = HttpRequest(url=f"{server.url}a b", body={})
        events = [event async for event in stream_events(http, request, StreamOptions())]

    assert events == [("message", b"x")]

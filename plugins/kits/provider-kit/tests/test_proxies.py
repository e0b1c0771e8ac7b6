"""Where the environment names a proxy, httpx's own transport goes through it."""

from __future__ import annotations

import importlib.util

import httpx
import pytest

from pi_hookspecs import AbortController, Aborted, StreamOptions
from pi_provider_kit import HttpFailed, HttpRequest, stream_events
from pi_provider_kit.proxies import Proxies
from pi_testing import for_each


async def ask(http, url):
    return [event async for event in stream_events(http, HttpRequest(url=url), StreamOptions())]


async def test_a_proxy_is_asked_for_the_whole_url(serve, http, monkeypatch):
    async with serve(lambda wire: wire.events(b"through")) as proxy:
        monkeypatch.setenv("http_proxy", f"http://localhost:{proxy.port}")
        events = await ask(http, "http://api.acme.test/v1/messages")
        await http.aclose()

    assert events == [("message", b"through")]
    assert proxy.requests[0][0].startswith(b"POST http://api.acme.test/v1/messages ")


async def test_no_proxy_leads_past_it(serve, http, monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "http://localhost:9")
    monkeypatch.setenv("NO_PROXY", "localhost")
    async with serve(lambda wire: wire.events(b"direct")) as server:
        assert await ask(http, server.url) == [("message", b"direct")]


@pytest.mark.parametrize(
    ("no_proxy", "url", "direct"),
    [
        ("*", "https://api.acme.test", True),
        ("acme.test", "https://api.acme.test", True),
        (".acme.test", "https://api.acme.test", True),
        ("other.test, api.acme.test", "https://API.acme.test", True),
        ("api.acme.test:8443", "https://api.acme.test:8443", True),
        ("api.acme.test:8443", "https://api.acme.test", False),
        ("acme.test", "https://not-acme.test", False),
        ("127.0.0.1", "http://127.0.0.1:11434", True),
        ("::1", "http://[::1]:11434", True),
        ("[::1]", "http://[::1]:11434", True),
        ("[::1]:11434", "http://[::1]:11434", True),
        ("[::1]:11434", "http://[::1]:8080", False),
        ("127.0.0.0/8", "http://127.0.0.1:11434", True),
        ("127.0.0.0/8", "http://128.0.0.1:11434", False),
        ("10.1.2.3/8", "http://10.9.9.9", True),
        ("10.0.0.0/8 192.168.0.0/16", "http://192.168.7.7", True),
        ("192.168.0.0/16:8080", "http://192.168.7.7:8080", True),
        ("192.168.0.0/16:8080", "http://192.168.7.7:80", False),
        ("fd00::/8", "http://[fd12::1]:8080", True),
        ("fe80::/10", "http://[fd12::1]:8080", False),
        ("*.acme.test", "https://api.acme.test", True),
        ("*.acme.test", "https://acme.test", True),
        ("*.acme.test", "https://not-acme.test", False),
        ("0.0.0.0/0", "https://api.acme.test", False),
        ("300.0.0.0/8, what?", "http://127.0.0.1", False),
        ("", "https://api.acme.test", False),
    ],
)
def test_no_proxy_names_hosts_domains_and_ports(monkeypatch, no_proxy, url, direct):
    monkeypatch.setenv("ALL_PROXY", "http://proxy.test:3128")
    monkeypatch.setenv("NO_PROXY", no_proxy)
    where = httpx.URL(url)
    proxy = Proxies.from_environment().proxy_for(where.scheme, where.host, where.port)

    assert proxy == (None if direct else "http://proxy.test:3128")


@pytest.mark.parametrize("status", [b"407 Proxy Authentication Required", b"403 Forbidden"])
async def test_a_proxy_that_refuses_the_tunnel_says_why(serve, http, monkeypatch, status):
    async with serve(lambda wire: wire.whole(status, b"no")) as proxy:
        monkeypatch.setenv("https_proxy", f"http://user:hunter2@localhost:{proxy.port}")
        with pytest.raises(HttpFailed) as raised:
            await ask(http, "https://api.acme.test/v1/messages")
        await http.aclose()

    assert raised.value.kind == "proxy"
    assert str(raised.value) == f"Connection error. api.acme.test:443 cannot be reached: {status.decode()}"


async def test_an_abort_ends_a_wait_behind_a_proxy(serve, http, monkeypatch):
    controller = AbortController()

    async def script(wire):
        controller.abort("enough")
        await wire.silence()

    async with serve(script) as proxy:
        monkeypatch.setenv("https_proxy", f"http://localhost:{proxy.port}")
        request = HttpRequest(url="https://api.acme.test/v1/messages")
        with pytest.raises(Aborted, match="enough"):
            _ = [event async for event in stream_events(http, request, StreamOptions(signal=controller.signal))]
        await http.aclose()


async def test_a_silent_or_cut_answer_through_a_proxy_reads_like_any_other(serve, http, monkeypatch):
    async def script(wire):
        await wire.events(b"one", end=False)
        wire.end()

    async with serve(script) as proxy:
        monkeypatch.setenv("http_proxy", f"http://localhost:{proxy.port}")
        with pytest.raises(HttpFailed, match="terminated: the connection was closed"):
            await ask(http, "http://api.acme.test/v1/messages")
        await http.aclose()


async def test_a_proxy_that_is_down_is_a_connection_error(http, monkeypatch):
    monkeypatch.setenv("https_proxy", "http://user:hunter2@localhost:9")
    with pytest.raises(HttpFailed, match="no connection to the proxy localhost:9") as raised:
        await ask(http, "https://api.acme.test/v1/messages")
    await http.aclose()

    assert raised.value.kind == "proxy"
    assert str(raised.value).startswith("Connection error. api.acme.test:443 cannot be reached: ")
    assert "hunter2" not in str(raised.value)


async def test_tls_that_fails_behind_a_proxy_is_the_server_s_failure(serve, http, monkeypatch):
    async def script(wire):
        await wire.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await wire.reader.read(1)  # what it says before TLS has begun would be lost
        await wire.send(b"no TLS here")
        await wire.silence()

    async with serve(script) as proxy:
        monkeypatch.setenv("https_proxy", f"http://localhost:{proxy.port}")
        with pytest.raises(HttpFailed, match=r"^Connection error\. No TLS connection to api\.acme\.test") as raised:
            await ask(http, "https://api.acme.test/v1/messages")
        await http.aclose()

    assert raised.value.kind == "tls"
    assert proxy.requests[0][0].startswith(b"CONNECT api.acme.test:443 ")


@pytest.mark.skipif(importlib.util.find_spec("socksio") is not None, reason="SOCKS support is installed")
async def test_socks_without_support_says_what_to_install(http, monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "socks5://user:hunter2@localhost:1080")
    with pytest.raises(HttpFailed, match=r"install pluggypi-provider-kit\[socks\]") as raised:
        await ask(http, "https://api.acme.test/")

    assert raised.value.kind == "proxy"
    assert "hunter2" not in str(raised.value)


async def test_an_unusable_proxy_is_named_without_its_password(http, monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "gopher://user:hunter2@localhost:70")
    with pytest.raises(HttpFailed, match="scheme 'gopher'") as raised:
        await ask(http, "https://api.acme.test/")

    assert "hunter2" not in str(raised.value)


@for_each(
    ("proxies", "scheme", "expected"),
    [
        ({}, "https", None),
        ({"http": "http://a:1"}, "https", None),
        ({"http": "http://a:1", "all": "http://b:2"}, "https", "http://b:2"),
        ({"https": "a:1"}, "https", "http://a:1"),
        ({"all": "socks://a:1"}, "http", "socks5://a:1"),
    ],
)
def test_the_scheme_chooses_the_proxy(proxies, scheme, expected):
    assert Proxies(proxies).proxy_for(scheme, "api.acme.test", None) == expected

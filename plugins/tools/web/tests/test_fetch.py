"""``fetch`` against a server on this machine, which the user's settings allow."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest
import trustme

import pi_web
from pi_core import PluginHost, Settings
from pi_hookspecs import AbortController, Aborted, UserError
from pi_testing import for_each
from pi_web.address import _is_public, find_target, redirected

PAGE = b"""<html><head><title>Numbers</title><style>p {color: red}</style></head><body>
<script>steal()</script><h2>One</h2><p>A <a href="/two">link</a> and <b>more</b>.</p>
<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table></body></html>"""


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.seen.append((self.path, dict(self.headers)))
        status, headers, body = self.server.pages.get(self.path, (404, {}, b"nothing here"))
        self.send_response(status)
        for name, value in {"content-type": "text/plain", **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.seen, server.pages = [], {"/": (200, {"content-type": "text/html"}, PAGE)}
        server.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def settings(server):
    return {"web": {"allowPrivate": [f"127.0.0.1:{server.server_port}"]}}


@pytest.fixture
def fetch(settings, tmp_path):
    """``await fetch(url)``: the result of the tool."""
    (tool,) = pi_web.register_tools()

    async def run(url, *, signal=None, **arguments):
        ctx = SimpleNamespace(settings=Settings.in_memory(settings, tmp_path))
        abort = signal or AbortController().signal
        return await tool.execute("call", {"url": url, **arguments}, abort, lambda _update: None, ctx)

    return run


@pytest.fixture
def text(fetch):
    async def run(url, **arguments):
        return (await fetch(url, **arguments)).content[0].text

    return run


async def test_html_becomes_markdown_without_scripts_and_styles(text, server):
    page = await text(f"{server.url}/")

    assert "# Numbers\n\n## One\n\nA [link](/two) and **more**." in page
    assert "| 1 | 2 |" in page
    assert "steal" not in page
    assert "color" not in page


async def test_a_page_is_marked_as_written_by_strangers(text, server):
    page = await text(f"{server.url}/#part")

    assert page.startswith(f"[Content of {server.url}/, HTTP 200. It was written by strangers")


async def test_a_name_that_leads_to_this_machine_is_refused_before_anything_is_sent(fetch, server, settings):
    settings.clear()

    with pytest.raises(UserError, match=r"private address 127\.0\.0\.1, which fetch does not reach"):
        await fetch(f"{server.url}/")

    assert server.seen == []


async def test_a_redirect_to_another_host_is_named_and_not_followed(fetch, server):
    server.pages["/go"] = (302, {"location": "http://127.0.0.2/secret"}, b"")

    with pytest.raises(UserError, match=r"redirects to another host: http://127\.0\.0\.2/secret\. Fetch that URL"):
        await fetch(f"{server.url}/go")


@pytest.mark.parametrize(
    ("location", "followed"),
    [("/b", True), ("https://example.com/a", True), ("http://example.com:8080/", False), ("//www.example.com/", False)],
)
def test_redirects_stay_on_one_host(location, followed):
    target = SimpleNamespace(url="http://example.com/a", scheme="http", host="example.com", port=80)

    if followed:
        assert redirected(target, location).startswith(("http://example.com/", "https://example.com/"))
    else:
        with pytest.raises(UserError, match="redirects to another host"):
            redirected(target, location)


async def test_redirects_are_followed_and_the_last_address_is_named(text, server):
    server.pages["/go"] = (301, {"location": "/"}, b"")

    assert f"[Content of {server.url}/, HTTP 200" in await text(f"{server.url}/go")


async def test_redirects_end_somewhere(fetch, server):
    server.pages["/go"] = (302, {"location": "/go"}, b"")

    with pytest.raises(UserError, match="redirects more than 5 times"):
        await fetch(f"{server.url}/go")


async def test_a_redirect_does_not_leave_encryption():
    target = SimpleNamespace(url="https://example.com/a", scheme="https")

    with pytest.raises(UserError, match="which is not encrypted"):
        redirected(target, "http://example.com/b")


async def test_a_page_is_cut_at_its_limit(text, server, settings):
    settings["web"]["maxBytes"] = 1000
    server.pages["/long"] = (200, {}, b"x" * 5000)

    page = await text(f"{server.url}/long")

    assert page.endswith(f"{'x' * 1000}\n[The page was cut at 1,000 bytes (web.maxBytes).]")


async def test_a_long_page_is_read_in_pieces_with_one_request(text, server):
    server.pages["/long"] = (200, {}, b"a" * 40_000 + b"b" * 100)

    first = await text(f"{server.url}/long")
    second = await text(f"{server.url}/long", offset=40_000)

    assert first.endswith("a\n[40,000 of 40,100 characters. Read on with offset=40000.]")
    assert second.endswith(f"\n{'b' * 100}")
    assert len(server.seen) == 1


async def test_an_offset_behind_the_end_is_explained(fetch, server):
    with pytest.raises(UserError, match="offset 900,000 is beyond its end"):
        await fetch(f"{server.url}/", offset=900_000)


async def test_what_is_no_text_is_refused(fetch, server):
    server.pages["/picture"] = (200, {"content-type": "image/png"}, b"\x89PNG")

    with pytest.raises(UserError, match="is image/png, not text"):
        await fetch(f"{server.url}/picture")


async def test_what_is_compressed_unasked_is_refused(fetch, server):
    server.pages["/bomb"] = (200, {"content-encoding": "gzip"}, b"\x1f\x8b")

    with pytest.raises(UserError, match="is compressed"):
        await fetch(f"{server.url}/bomb")


async def test_an_error_of_the_server_is_an_error_with_its_text(fetch, server):
    result = await fetch(f"{server.url}/absent")

    assert result.is_error
    assert "HTTP 404" in result.content[0].text
    assert "nothing here" in result.content[0].text


@pytest.mark.parametrize("charset", ["utf-8", "latin-1", "no-such-charset"])
async def test_text_is_decoded_by_the_charset_of_the_server(text, server, charset):
    server.pages["/text"] = (200, {"content-type": f"text/plain; charset={charset}"}, "é".encode("latin-1"))

    assert ("é" if charset == "latin-1" else "\N{REPLACEMENT CHARACTER}") in await text(f"{server.url}/text")


@pytest.mark.slow
async def test_elements_within_each_other_ten_thousand_times_are_text(text, server):
    server.pages["/deep"] = (200, {"content-type": "text/html"}, b"<div>" * 10_000 + b"deep" + b"</div>" * 10_000)

    assert "deep" in await text(f"{server.url}/deep")


@pytest.fixture
def silent(settings):
    """The URL of a server that accepts no connection."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        settings["web"] = {"allowPrivate": ["127.0.0.1"]}
        yield SimpleNamespace(url=f"http://127.0.0.1:{listening.getsockname()[1]}/", socket=listening)


async def test_a_server_that_does_not_answer_is_left(fetch, settings, silent):
    settings["web"]["timeout"] = 0.1

    with pytest.raises(UserError, match=r"did not answer within 0\.1 seconds"):
        await fetch(silent.url)


async def test_an_abort_ends_the_request(fetch, silent):
    abort = AbortController()
    fetching = asyncio.create_task(fetch(silent.url, signal=abort.signal))
    connection, _ = await asyncio.get_running_loop().sock_accept(silent.socket)
    abort.abort()

    with connection, pytest.raises(Aborted):
        await fetching


async def test_a_certificate_is_compared_with_the_name(text, fetch, server, settings, tmp_path, monkeypatch):
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "own.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "own.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    settings["web"]["allowPrivate"] = ["localhost", "127.0.0.1"]

    assert "Numbers" in await text(f"https://localhost:{server.server_port}/")
    with pytest.raises(UserError, match="certificate"):
        await fetch(f"https://127.0.0.1:{server.server_port}/")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("file:///etc/passwd", "fetch reads http and https URLs"),
        ("http://", "fetch reads http and https URLs"),
        ("http://user:secret@example.com/", "no URL with a user name or a password"),
        ("http://[::1", "is not a URL"),
        ("http://localhost:99999/", "is not a URL"),
        ("http://no-such-host.invalid/", "cannot be resolved"),
    ],
)
async def test_what_is_no_url_of_the_web_is_explained(fetch, url, message):
    with pytest.raises(UserError, match=message):
        await fetch(url)


@for_each(
    "address",
    [
        *(
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "224.0.0.1",
        ),
        *("::1", "::", "fe80::1%eth0", "fc00::1", "ff02::1", "::ffff:10.0.0.1", "2002:7f00:1::", "64:ff9b::7f00:1"),
    ],
)
def test_addresses_that_are_not_of_the_public_internet_are_known(address):
    assert not _is_public(address)


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34", "64:ff9b::808:808"])
def test_addresses_of_the_public_internet_are_known(address):
    assert _is_public(address)


@pytest.mark.parametrize("url", ["http://2130706433/", "http://0x7f.1/", "http://127.1/", "http://LOCALHOST./"])
async def test_other_spellings_of_this_machine_are_refused(url):
    with pytest.raises(UserError, match=r"private address|cannot be resolved"):
        await find_target(url, frozenset())


async def test_a_project_cannot_allow_private_addresses(server, tmp_path):
    project = tmp_path / "project"
    (project / ".pi").mkdir(parents=True)
    (project / ".pi" / "settings.json").write_text('{"web": {"allowPrivate": ["127.0.0.1"]}}')
    settings = Settings.load(project, agent_dir=tmp_path / "agent", trust=True)
    PluginHost(settings).declare_settings(settings)
    (tool,) = pi_web.register_tools()

    with pytest.raises(UserError, match="private address"):
        await tool.execute(
            "c", {"url": server.url}, AbortController().signal, print, SimpleNamespace(settings=settings)
        )


def test_nothing_heavy_is_imported_to_offer_the_tool(pytester):
    done = pytester.runpython_c(
        "import sys, pi_web; pi_web.register_tools(); pi_web.register_settings();"
        "print(*{'httpx', 'bs4', 'markdownify'} & set(sys.modules))"
    )

    assert done.outlines == [""]

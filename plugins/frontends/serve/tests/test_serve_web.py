"""What the port for browsers lets in, and what it refuses."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from urllib.parse import urlsplit

import httpx
import pytest
import pytest_asyncio
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from pi_core.plugin_api.local_web import LocalGate, read_token
from pi_hookspecs import UserError
from pi_serve import web
from pi_serve.web import web_server
from pi_testing import text
from pi_testing.patience import PATIENCE

TOKEN = "a-token-that-is-long-enough"
HANDSHAKE = f"""GET /socket HTTP/1.1\r
Host: localhost\r
Upgrade: websocket\r
Connection: Upgrade\r
Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
Sec-WebSocket-Version: 13\r
Authorization: Bearer {TOKEN}\r
\r
""".encode()


@pytest_asyncio.fixture
async def url(served, tmp_path, monkeypatch):
    """The address of a served session, whose refusals come at once."""
    monkeypatch.setattr(web, "_REFUSED_SECONDS", 0)
    async with web_server(served.server, 0, TOKEN, tmp_path / "agent") as address:
        yield address


def socket_of(url: str) -> str:
    return f"{url.replace('http', 'ws', 1)}socket"


async def get(url: str, **headers: str) -> httpx.Response:
    async with httpx.AsyncClient(trust_env=False) as client:
        return await client.get(url, headers=headers)


async def test_the_token_becomes_a_cookie_and_leaves_the_address(url) -> None:
    first = await get(f"{url}?token={TOKEN}")
    page = await get(url, Cookie=first.headers["Set-Cookie"].partition(";")[0])

    assert (first.status_code, first.headers["Location"]) == (303, "/")
    assert "HttpOnly" in first.headers["Set-Cookie"]
    assert "SameSite=Strict" in first.headers["Set-Cookie"]
    assert page.text.startswith("<!DOCTYPE html>")
    assert "script-src 'self';" in page.headers["Content-Security-Policy"]
    assert page.headers["Referrer-Policy"] == "no-referrer"


async def test_the_cookie_of_another_port_is_not_replaced_and_opens_the_page_if_its_token_is_the_same(url) -> None:
    there = {"Host": "127.0.0.1:99"}
    first, other = await get(f"{url}?token={TOKEN}"), await get(f"{url}?token={TOKEN}", **there)
    names = [each.headers["Set-Cookie"].partition("=")[0] for each in (first, other)]
    cookie = first.headers["Set-Cookie"].partition(";")[0]

    assert names == [f"pi_token_{httpx.URL(url).port}", "pi_token_99"]
    assert (await get(url, Cookie=cookie)).status_code == 200
    assert (await get(url, Cookie=cookie, **there)).status_code == 200
    assert (await get(url, Cookie=f"pi_token_99=another-token; {cookie}")).status_code == 200
    assert (await get(url, Cookie="pi_token_99=another-token")).status_code == 401


async def test_cookies_of_other_programs_on_this_computer_do_not_hide_the_token(url) -> None:
    cookie = f"pi_token_{httpx.URL(url).port}={TOKEN}"

    for other in ('layout={"left": 1}', "user[name]=ann", "path=/", "seen", "words=a b", 'broken="'):
        for cookies in (f"{other}; {cookie}", f"{cookie}; {other}"):
            assert (await get(url, Cookie=cookies)).status_code == 200, cookies


async def test_a_header_that_a_request_repeats_is_joined_and_never_fails_the_server(url) -> None:
    cookie, bearer = f"pi_token_{httpx.URL(url).port}={TOKEN}", f"Bearer {TOKEN}"
    expected = {
        (("Cookie", "other=1"), ("Cookie", cookie)): 200,
        (("Authorization", bearer), ("Authorization", bearer)): 401,
        (("Origin", url.rstrip("/")), ("Origin", "http://evil.example"), ("Authorization", bearer)): 403,
    }
    async with httpx.AsyncClient(trust_env=False) as client:
        found = {headers: (await client.get(url, headers=list(headers))).status_code for headers in expected}

    assert found == expected


def test_a_token_that_is_not_text_is_a_wrong_one() -> None:
    for headers in ({"Authorization": "Bearer \udcff"}, {"Cookie": "pi_token_80=\udcff"}):
        assert not LocalGate(TOKEN).knows(headers, "")


@pytest.mark.parametrize("path", ["", "page.js", "socket", "sessions", "?token=wrong", "../token", "nothing"])
async def test_nothing_is_there_without_the_token(url, path) -> None:
    for headers in (
        {},
        {"Authorization": "Bearer wrong"},
        {"Cookie": f"pi_token_{httpx.URL(url).port}=wrong"},
        {"Cookie": '"'},
    ):
        assert (await get(url + path, **headers)).status_code == 401


async def test_what_is_not_part_of_the_page_is_not_there(url) -> None:
    for path in ("../__init__.py", "..%2f_web.py", "page/index.html"):
        assert (await get(url + path, Authorization=f"Bearer {TOKEN}")).status_code == 404


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example", "["]
)
async def test_a_name_that_leads_here_is_refused(url, host) -> None:
    answer = await get(url, Host=host, Authorization=f"Bearer {TOKEN}")

    assert answer.status_code == 403
    assert answer.text.startswith(f"pi is served as 127.0.0.1 and localhost, not as {host!r}")
    assert "pi serve needs its address with --url" in answer.text


async def test_the_name_of_the_users_own_proxy_is_allowed_and_its_cookie_stays_encrypted(served, tmp_path) -> None:
    public = "https://box.example.net/"
    async with web_server(served.server, 0, TOKEN, tmp_path / "agent", public_url=public) as url:
        there = {"Host": "box.example.net"}
        first, local = await get(f"{url}?token={TOKEN}", **there), await get(f"{url}?token={TOKEN}")
        other = await get(url, Host="evil.example.net", Authorization=f"Bearer {TOKEN}")
        page = await get(url, Authorization=f"Bearer {TOKEN}", Origin="https://box.example.net", **there)

    assert page.status_code == 200
    assert (first.status_code, other.status_code) == (303, 403)
    assert first.headers["Set-Cookie"].endswith("; Secure")
    assert "Secure" not in local.headers["Set-Cookie"]


@pytest.mark.parametrize("sent", ["/tides/", "/"])
async def test_a_proxy_may_offer_it_below_a_path_and_take_the_path_out_or_leave_it(served, tmp_path, sent) -> None:
    public = "https://box.example.net/tides/"
    async with web_server(served.server, 0, TOKEN, tmp_path / "agent", public_url=public) as url:
        there = {"Host": "box.example.net", "Authorization": f"Bearer {TOKEN}"}
        first, local = (
            await get(f"{url}{sent[1:]}?token={TOKEN}", Host="box.example.net"),
            await get(f"{url}?token={TOKEN}"),
        )
        page, elsewhere = await get(f"{url}{sent[1:]}page.js", **there), await get(f"{url}tidespage.js", **there)

    assert (first.headers["Location"], local.headers["Location"]) == ("/tides/", "/")
    assert first.headers["Set-Cookie"].startswith("pi_token_80_tides=")
    assert (page.status_code, elsewhere.status_code) == (200, 404)


@pytest.mark.slow
async def test_a_client_with_a_wrong_token_waits_and_the_others_do_not(served, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(web, "_REFUSED_SECONDS", 3600)
    async with web_server(served.server, 0, TOKEN, tmp_path / "agent") as url:
        wrong = connect(socket_of(url), additional_headers={"Authorization": "Bearer wrong"}, proxy=None)
        guessing = [asyncio.ensure_future(get(url, Authorization="Bearer wrong")), asyncio.ensure_future(wrong)]
        known = await get(url, Authorization=f"Bearer {TOKEN}")
        client = await joined(url)
        await until(client, "entries")
        answered = [each.done() for each in guessing]
        for each in guessing:
            each.cancel()
        await asyncio.wait(guessing)
        await client.close()

    assert known.status_code == 200
    assert answered == [False, False]


async def test_pages_of_others_may_not_connect(url) -> None:
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1", f"{url}x"):
        with pytest.raises(InvalidStatus, match="403"):
            await connect(
                socket_of(url), origin=origin, additional_headers={"Authorization": f"Bearer {TOKEN}"}, proxy=None
            )


async def joined(url: str, **hello: str):
    client = await connect(socket_of(url), additional_headers={"Authorization": f"Bearer {TOKEN}"}, proxy=None)
    await client.send(json.dumps({"type": "hello", **hello}))
    return client


async def until(client, kind: str) -> dict:
    async with asyncio.timeout(PATIENCE):
        while (line := json.loads(await client.recv()))["type"] != kind:
            pass
    return line


async def test_a_program_speaks_the_protocol_over_it(url, served, script) -> None:
    script.turn(text("Hello."))
    client = await joined(url)

    await client.send('{"type": "prompt", "id": 1, "message": "Hi"}')
    await until(client, "agent_settled")

    assert served.session.get_last_assistant_text() == "Hello."
    await client.close()


@pytest.mark.slow
async def test_a_frame_of_a_hundred_megabytes_is_refused(url) -> None:
    client = await joined(url)
    await until(client, "entries")

    with suppress(ConnectionClosed):
        await client.send(b"x" * 100_000_000)
    await client.wait_closed()

    assert client.close_code == 1009


@pytest.mark.slow
async def test_ten_thousand_silent_connections_keep_nobody_with_the_token_out(served, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(web, "_OPEN_SECONDS", 600)
    async with web_server(served.server, 0, TOKEN, tmp_path / "agent") as url:
        client = await joined(url)
        await until(client, "entries")
        silent = [await connected(url) for _ in range(web._MAX_CONNECTIONS)]
        for _ in range(50):
            silent += [await connected(url) for _ in range(web._MAX_CONNECTIONS)]
            assert (await get(url, Authorization=f"Bearer {TOKEN}")).status_code == 200
            for _, writer in silent[: -web._MAX_CONNECTIONS]:
                await left(writer)
            del silent[: -web._MAX_CONNECTIONS]
        late = await joined(url)
        await until(late, "entries")
        await client.send('{"type": "get_state", "id": 1}')
        answered = await until(client, "response")
        for _, writer in silent:
            await left(writer)
        await late.close()
        await client.close()

    assert answered["success"]


async def test_a_connection_beyond_the_limit_is_refused_while_all_are_in_use(served, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(web, "_MAX_CONNECTIONS", 3)
    async with web_server(served.server, 0, TOKEN, tmp_path / "agent") as url:
        clients = [await joined(url) for _ in range(3)]
        reader, writer = await connected(url)
        refused = await reader.read()
        await left(writer)
        for each in clients:
            await each.close()

    assert refused.startswith(b"HTTP/1.1 503 ")


async def connected(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", urlsplit(url).port)


async def left(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


async def test_a_client_that_says_nothing_is_closed(url, monkeypatch) -> None:
    from pi_serve import server

    monkeypatch.setattr(server, "_HELLO_SECONDS", 0.05)
    client = await connect(socket_of(url), additional_headers={"Authorization": f"Bearer {TOKEN}"}, proxy=None)

    assert "No hello came" in (await until(client, "error"))["error"]
    await client.wait_closed()


@pytest.mark.parametrize("request_line", [b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"])
async def test_a_connection_without_a_whole_request_is_closed(served, tmp_path, monkeypatch, request_line) -> None:
    monkeypatch.setattr(web, "_OPEN_SECONDS", 0.05)
    async with web_server(served.server, 0, TOKEN, tmp_path / "agent") as url:
        reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(url).port)
        writer.write(request_line)
        async with asyncio.timeout(PATIENCE):
            assert await reader.read() == b""
        writer.close()


async def test_a_client_whose_computer_is_gone_is_let_go(served, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(web, "_PING_SECONDS", 1)
    async with web_server(served.server, 0, TOKEN, tmp_path / "agent") as url:
        reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(url).port)
        writer.write(HANDSHAKE)
        assert b" 101 " in await reader.readline()
        hello = b'{"type": "hello"}'
        writer.write(bytes([0x81, 0x80 | len(hello)]) + bytes(4) + hello)
        async with asyncio.timeout(PATIENCE):
            assert b"sessionId" in await reader.read()  # up to the end, which no pong has put off
        writer.close()

    assert not served.server._clients


async def test_a_taken_port_is_an_error_with_the_way_out(url, served, tmp_path) -> None:
    port = int(url.rstrip("/").rpartition(":")[2])

    with pytest.raises(UserError, match=rf"Port {port} cannot be used: .* --port N"):
        async with web_server(served.server, port, TOKEN, tmp_path):
            pass


def test_a_token_is_made_once_for_the_user_alone(tmp_path) -> None:
    file = tmp_path / "run" / "token"

    assert read_token(file) == read_token(file)
    assert (len(read_token(file)), file.stat().st_mode & 0o777) == (43, 0o600)


@pytest.mark.parametrize(
    ("content", "mode", "why"),
    [
        (b"a-token-that-is-long-enough", 0o644, "is readable by other users"),
        (b"short", 0o600, "needs a token of at least 16"),
        (b"", 0o600, "needs a token of at least 16"),
        (b"a token with spaces in it", 0o600, "needs a token"),
        (b"\xff" * 40, 0o600, "cannot be read"),
    ],
)
def test_a_token_file_that_is_not_safe_is_refused(tmp_path, content, mode, why) -> None:
    file = tmp_path / "token"
    file.write_bytes(content)
    file.chmod(mode)

    with pytest.raises(UserError, match=why):
        read_token(file)

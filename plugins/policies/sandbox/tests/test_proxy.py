"""Who may use the proxy: those who have its token, on a port; whoever reaches its folder, on a Unix socket."""

from __future__ import annotations

import asyncio
import base64

import pytest

from pi_sandbox.proxy import Proxy


class Listed:
    """A server that the proxy may connect to; counts the connections."""

    def __init__(self):
        self.count = 0
        self.heads = []

    async def start(self):
        self.server = await asyncio.start_server(self.answer, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    async def answer(self, reader, writer):
        self.count += 1
        self.heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
        writer.close()


@pytest.fixture
async def listed():
    server = await Listed().start()
    async with server.server:
        yield server


@pytest.fixture
async def proxy(listed):
    proxy = Proxy([f"localhost:{listed.port}"])
    await proxy.start()
    yield proxy
    proxy.close()


async def exchange(proxy, sent, path=None):
    """Send bytes, and return all that is answered until the connection ends."""
    opened = asyncio.open_unix_connection(path) if path else asyncio.open_connection("127.0.0.1", proxy.port)
    reader, writer = await opened
    writer.write(sent)
    answer = await reader.read()
    writer.close()
    return answer


def basic(text):
    return b"Proxy-Authorization: Basic " + base64.b64encode(text.encode()) + b"\r\n"


def request(port, header=b"", method="GET"):
    target = f"localhost:{port}" if method == "CONNECT" else f"http://localhost:{port}/"
    return f"{method} {target} HTTP/1.1\r\nHost: localhost\r\n".encode() + header + b"\r\n"


WRONG = {
    "none": lambda token: b"",
    "another": lambda token: basic("pi:guessed"),
    "a part": lambda token: basic(f"pi:{token[:-1]}"),
    "more": lambda token: basic(f"pi:{token}x"),
    "another user": lambda token: basic(f"root:{token}"),
    "an empty one": lambda token: basic("pi:"),
    "not as Basic": lambda token: f"Proxy-Authorization: Bearer {token}\r\n".encode(),
    "for the server": lambda token: basic(f"pi:{token}").replace(b"Proxy-", b""),
    "the second of two": lambda token: basic("pi:guessed") + basic(f"pi:{token}"),
    "no text": lambda token: b"Proxy-Authorization: Basic \xff\xfe\r\n",
}


@pytest.mark.parametrize("method", ["GET", "CONNECT"])
@pytest.mark.parametrize("kind", WRONG)
async def test_a_request_without_the_token_gets_407_and_goes_nowhere(proxy, listed, kind, method):
    answer = await exchange(proxy, request(listed.port, WRONG[kind](proxy.token), method))

    assert answer.startswith(b"HTTP/1.1 407 ")
    assert b'Proxy-Authenticate: Basic realm="pi"' in answer
    assert proxy.token.encode() not in answer
    assert listed.count == 0


async def test_a_request_with_the_token_is_carried_out_and_the_server_does_not_see_it(proxy, listed):
    answer = await exchange(proxy, request(listed.port, basic(f"pi:{proxy.token}")))

    assert answer.endswith(b"hello")
    assert b"authorization" not in listed.heads[0].lower()


async def test_what_is_not_listed_is_not_told_to_strangers(proxy):
    answer = await exchange(proxy, request(1))

    assert answer.startswith(b"HTTP/1.1 407 ")
    assert not proxy.refused


def socks(port, user=b"", password=b"", methods=b"\x02"):
    sign_in = bytes((1, len(user))) + user + bytes((len(password),)) + password if 2 in methods else b""
    target = b"\x05\x01\x00\x03\x09localhost" + port.to_bytes(2, "big")
    return bytes((5, len(methods))) + methods + sign_in + target + b"GET / HTTP/1.1\r\n\r\n"


async def test_socks_wants_the_token_as_its_password(proxy, listed):
    token = proxy.token.encode()
    refused = [
        await exchange(proxy, socks(listed.port, methods=b"\x00")),
        await exchange(proxy, socks(listed.port, b"pi", b"guessed")),
        await exchange(proxy, socks(listed.port, b"root", token)),
    ]
    seen = listed.count
    carried_out = await exchange(proxy, socks(listed.port, b"pi", token, methods=b"\x00\x02"))

    assert refused == [b"\x05\xff", b"\x05\x02\x01\x01", b"\x05\x02\x01\x01"]
    assert seen == 0
    assert carried_out.endswith(b"hello")


async def test_in_a_private_folder_no_token_is_needed(listed, tmp_path):
    proxy = Proxy([f"localhost:{listed.port}"])
    await proxy.start(str(tmp_path / "s"))

    answers = [
        await exchange(proxy, request(listed.port), str(tmp_path / "s")),
        await exchange(proxy, socks(listed.port, methods=b"\x00"), str(tmp_path / "s")),
    ]
    proxy.close()

    assert proxy.token is None
    assert [each[-5:] for each in answers] == [b"hello", b"hello"]

"""The page behind a reverse proxy that offers two sessions of a computer below a path each."""

from __future__ import annotations

import asyncio
import json
import math
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from pi_serve.web import web_server
from pi_testing import make_tool, text, tool_call

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.slow

TOKEN = "a-token-that-is-long-enough"


@asynccontextmanager
async def reverse_proxy(ports: dict[bytes, int], cuts: list[int] | None = None) -> AsyncIterator[str]:
    """Pass requests on to these ports without the path that each is for; yields the address of the proxy.

    Each of the first WebSockets is cut off after as many bytes of the server as ``cuts`` says, which is used up.
    """

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, most: float = math.inf) -> None:
        with suppress(ConnectionError):
            while most > 0 and (chunk := await reader.read(2**16)):
                writer.write(chunk[: int(min(most, len(chunk)))])
                most -= len(chunk)
                await writer.drain()
        writer.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        method, path, rest = head.split(b" ", 2)
        prefix = next((each for each in ports if path.startswith(each + b"/")), None)
        if prefix is None:
            writer.close()
            return
        is_socket = b"Upgrade: websocket" in rest
        most = cuts.pop(0) if is_socket and cuts else math.inf
        if not is_socket:
            rest = rest.replace(b"Connection: keep-alive", b"Connection: close")
        there = await asyncio.open_connection("127.0.0.1", ports[prefix])
        there[1].write(b" ".join((method, path.removeprefix(prefix), rest)))
        await asyncio.gather(pass_on(reader, there[1]), pass_on(there[0], writer, most))

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    async with server:
        yield f"http://box.test:{server.sockets[0].getsockname()[1]}"
        server.close()


async def test_the_menu_leads_to_the_other_session_behind_the_proxy(empty_page, served, script, tmp_path) -> None:
    page, agent = empty_page, tmp_path / "agent"
    script.turn(text("High at six."))
    ports: dict[bytes, int] = {}
    async with reverse_proxy(ports) as proxy:
        public = [f"{proxy}/{name}/" for name in ("tides", "moon")]
        async with (
            web_server(served.server, 0, TOKEN, agent, public_url=public[0]) as tides,
            web_server(served.server, 0, TOKEN, agent, public_url=public[1]) as moon,
        ):
            ports.update({b"/tides": urlsplit(tides).port, b"/moon": urlsplit(moon).port})
            (agent / "run").mkdir(parents=True)
            for number, (url, address) in enumerate(zip((tides, moon, tides), (*public, None), strict=True)):
                facts = {"cwd": "/work", "socket": str(served.path), "url": url, "public": address}
                name = served.session.session_id if number == 0 else f"{number}" * 8
                (agent / "run" / f"{number}.json").write_text(json.dumps({"session": name, **facts}))

            await page.open(f"{public[0]}?token={TOKEN}")
            await page.until("document.getElementById('state')?.textContent === 'ready'")
            await page.type("When?")
            await page.click("#send")
            await page.until("document.querySelector('.answer')?.innerText.includes('High at six.')")
            await page.click("#sessions summary")
            await page.until("document.querySelectorAll('#list a, #list span').length === 3")
            links = await page.run("[...document.querySelectorAll('#list a')].map((each) => each.href)")
            current = await page.run("document.querySelector('#list [aria-current]').href")
            await page.run("document.querySelectorAll('#list a')[1].click()")
            await page.until(
                f"location.href === '{public[1]}' && document.getElementById('state')?.textContent === 'ready'"
            )
            there = await page.until("document.querySelector('.answer')?.innerText")

    assert links == public
    assert current == public[0]
    assert "High at six." in there


@pytest.mark.pi(tools=[make_tool("echo")])
async def test_nothing_is_lost_behind_a_proxy_that_cuts_connections(empty_page, served, script, tmp_path) -> None:
    page, cuts = empty_page, [2_000, 6_000, 3_000, 8_000]
    for number in range(12):
        script.turn(text(f"Step {number}. " + "word " * 300, chunks=100), tool_call("echo", text=str(number)))
    script.turn(text("The end."))
    ports: dict[bytes, int] = {}
    async with reverse_proxy(ports, cuts) as proxy:
        public = f"{proxy}/tides/"
        async with web_server(served.server, 0, TOKEN, tmp_path / "agent", public_url=public) as url:
            ports[b"/tides"] = urlsplit(url).port
            await page.open(f"{public}?token={TOKEN}")
            other = await served.join()
            await other.call("prompt", message="Take many steps")
            await page.until("document.querySelector('#log').innerText.includes('The end.')")
            await page.until("document.getElementById('state').textContent === 'ready'")
            answers = await page.run("document.querySelectorAll('.answer').length")
            asked = await page.run("document.querySelectorAll('.user').length")

    assert cuts == []
    assert (answers, asked) == (13, 1)

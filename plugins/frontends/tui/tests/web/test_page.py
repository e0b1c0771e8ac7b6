"""``pi web`` in use: what a page shows and what is typed there, who is kept out, and what ends with the page."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from pi_testing.patience import PATIENCE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(
        find_spec("textual_serve") is None,
        reason="needs textual-serve: uv run python tools/heavy_environments.py web --test",
    ),
]


class Shown:
    """The terminal of a page."""

    def __init__(self, socket) -> None:
        import pyte

        self.screen = pyte.Screen(80, 24)
        self._stream = pyte.ByteStream(self.screen)
        self._socket = socket

    async def sees(self, *expected: str) -> str:
        async with asyncio.timeout(PATIENCE):
            while not all(each in self.text for each in expected):
                message = await self._socket.receive()
                assert isinstance(message.data, bytes), f"{expected!r} does not come after\n{self.text}"
                self._stream.feed(message.data)
        return self.text

    @property
    def text(self) -> str:
        return "\n".join(row.rstrip() for row in self.screen.display)

    async def type(self, text: str) -> None:
        await self._socket.send_json(["stdin", text])

    async def send(self, text: str) -> None:
        await self._socket.send_str(text)

    async def resize(self, width: int, height: int) -> None:
        self.screen.resize(height, width)
        await self._socket.send_json(["resize", {"width": width, "height": height}])

    async def ended(self) -> bool:
        """Whether the server closes the page."""
        async with asyncio.timeout(PATIENCE):
            while isinstance((await self._socket.receive()).data, bytes):
                pass
        return self._socket.closed


@contextmanager
def serving(tmp_path, monkeypatch, *before: str) -> Iterator[str]:
    """The address, with its token; ``before`` is a command that starts pi."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "agent"))
    work = tmp_path / "work"
    work.mkdir()
    (work / "brest.txt").touch()
    command = [*before, sys.executable, "-P", "-m", "pi_cli", "web", "--model", "offline/rules"]
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, cwd=work, text=True, **streams)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert url, process.communicate(timeout=PATIENCE)
        yield url
        process.terminate()
        said = process.communicate(timeout=PATIENCE)
        assert (process.returncode, *said) == (143, "", "")
    finally:
        process.kill()
        process.communicate()


@asynccontextmanager
async def page(url: str) -> AsyncIterator[Shown]:
    import aiohttp

    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as client:
        async with client.get(url) as response:
            assert (response.status, response.url.query_string) == (200, "")
            assert "connect-src 'self' ws://127.0.0.1:" in response.headers["Content-Security-Policy"]
        async with client.ws_connect(f"http://{urlsplit(url).netloc}/ws?width=80&height=24") as socket:
            yield Shown(socket)


async def test_the_screen_is_used_in_a_page(tmp_path, monkeypatch):
    with serving(tmp_path, monkeypatch) as url:
        async with page(url) as shown:
            await shown.sees("0.0%/128k (auto)")
            await shown.type("list the files here\r")
            await shown.sees("brest.txt", "The files here")
            await shown.resize(50, 14)
            await shown.sees("The files here", "(auto)")
            await shown.type("\x04")
            assert await shown.ended()

    assert len([*tmp_path.glob("agent/sessions/*/*.jsonl")]) == 1


@pytest.mark.parametrize("before", [[], ["nohup"]])
async def test_a_page_that_is_closed_ends_its_pi_and_keeps_its_session(tmp_path, monkeypatch, before):
    (tmp_path / "agent" / "extensions").mkdir(parents=True)
    (tmp_path / "agent" / "extensions" / "ends.py").write_text(
        "import pathlib\nfrom pi_hookspecs import hookimpl\n\n"
        "@hookimpl\ndef session_shutdown(event, ctx):\n"
        f"    pathlib.Path({str(tmp_path / 'ended')!r}).touch()\n"
    )
    with serving(tmp_path, monkeypatch, *before) as url:
        async with page(url) as shown:
            await shown.sees("0.0%/128k (auto)")
            await shown.send("nonsense")
            await shown.send('["resize", 3]')
            await shown.type("list the files here\r")
            await shown.sees("The files here")
        async with asyncio.timeout(PATIENCE):
            while not (tmp_path / "ended").exists():  # noqa: ASYNC110 - a file
                await asyncio.sleep(0.05)

    assert len([*tmp_path.glob("agent/sessions/*/*.jsonl")]) == 1


async def test_the_end_of_the_server_ends_the_pages(tmp_path, monkeypatch):
    async with AsyncExitStack() as stack:
        with serving(tmp_path, monkeypatch) as url:
            shown = await stack.enter_async_context(page(url))
            await shown.sees("0.0%/128k (auto)")
        assert await shown.ended()


async def test_nobody_else_gets_a_terminal(tmp_path, monkeypatch):
    import aiohttp

    with serving(tmp_path, monkeypatch) as url:
        place, _, token = url.partition("?token=")
        bearer = {"Authorization": f"Bearer {token}"}
        statuses = []
        async with aiohttp.ClientSession() as client:
            for path, headers in (
                ("", {}),
                ("ws", {}),
                ("static/js/textual.js", {}),
                ("?token=wrong", {}),
                ("", {**bearer, "Host": "evil.example"}),
                ("ws", {**bearer, "Origin": "http://evil.example"}),
            ):
                async with client.get(place + path, headers=headers) as response:
                    statuses.append(response.status)

    assert statuses == [401, 401, 401, 401, 403, 403]

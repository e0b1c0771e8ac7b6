"""A headless Chromium that opens a page, types, clicks, and tells what is there: the DevTools protocol, no more of it
than is needed."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from websockets.asyncio.client import connect

from pi_serve.web import web_server
from pi_testing.patience import PATIENCE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from websockets.asyncio.client import ClientConnection

TOKEN = "a-token-that-is-long-enough"
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)

_OPTIONS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync --hide-scrollbars
--disable-background-networking --disable-component-update --remote-debugging-port=0""".split()
_OPTIONS.append("--host-resolver-rules=MAP box.test 127.0.0.1")

_KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowDown": 40}
"""Keys and their codes for Windows, which Chromium wants everywhere."""


class Page:
    """An open page."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._ids = count(1)
        self.console: list[str] = []
        self.url = ""

    async def command(self, method: str, **given: Any) -> dict[str, Any]:
        number = next(self._ids)
        await self._connection.send(json.dumps({"id": number, "method": method, "params": given}))
        while True:
            said = json.loads(await self._connection.recv())
            if said.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown"):
                self.console.append(json.dumps(said["params"]))
            if said.get("id") == number:
                assert "error" not in said, said
                return said["result"]

    async def open(self, url: str, *, width: int = 1000, height: int = 700, phone: bool = False) -> None:
        for name in ("Page", "Runtime", "Log"):
            await self.command(f"{name}.enable")
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone}
        await self.command("Emulation.setDeviceMetricsOverride", **size)
        await self.command("Page.navigate", url=url)

    async def run(self, script: str) -> Any:
        done = await self.command("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    async def until(self, condition: str) -> Any:
        """Return the value of an expression once it is true."""
        async with asyncio.timeout(PATIENCE):
            while True:
                with suppress(AssertionError):  # the page is being loaded
                    if value := await self.run(condition):
                        return value
                await asyncio.sleep(0.05)

    async def text(self) -> str:
        return await self.run("document.getElementById('transcript').innerText")

    async def type(self, words: str) -> None:
        await self.run("document.getElementById('text').focus()")
        await self.command("Input.insertText", text=words)

    async def keys(self, *keys: str) -> None:
        """Press keys; what is not the name of a key is typed."""
        for key in keys:
            code = _KEYS.get(key)
            if code is None:
                await self.command("Input.insertText", text=key)
                continue
            said = {"text": "\r"} if key == "Enter" else {}
            facts = {"key": key, "code": key, "windowsVirtualKeyCode": code}
            await self.command("Input.dispatchKeyEvent", type="keyDown", **facts, **said)
            await self.command("Input.dispatchKeyEvent", type="keyUp", **facts)

    async def click(self, selector: str) -> None:
        await self.run(f"document.querySelector({json.dumps(selector)}).click()")

    async def picture(self) -> bytes:
        return base64.b64decode((await self.command("Page.captureScreenshot", format="png"))["data"])


@asynccontextmanager
async def browser(folder: Path) -> AsyncIterator[Page]:
    """Start a browser with a profile of its own."""
    assert BROWSER is not None
    profile = folder / "profile"
    process = await asyncio.create_subprocess_exec(
        BROWSER,
        *_OPTIONS,
        f"--user-data-dir={profile}",
        "about:blank",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        env={**os.environ, "HOME": str(folder)},
    )
    try:
        port = await _port(profile / "DevToolsActivePort")
        async with connect(f"ws://127.0.0.1:{port[0]}{port[1]}", max_size=None) as whole:
            control = Page(whole)
            targets = await control.command("Target.getTargets")
            target = next(each["targetId"] for each in targets["targetInfos"] if each["type"] == "page")
        async with connect(f"ws://127.0.0.1:{port[0]}/devtools/page/{target}", max_size=None) as connection:
            yield Page(connection)
    finally:
        process.terminate()
        await process.wait()


async def _port(file: Path) -> list[str]:
    async with asyncio.timeout(PATIENCE):
        while True:
            with suppress(OSError):
                lines = file.read_text().split("\n")
                if len(lines) > 1:
                    return lines
            await asyncio.sleep(0.05)


@pytest_asyncio.fixture
async def empty_page(tmp_path) -> AsyncIterator[Page]:
    """A browser that shows nothing yet."""
    if BROWSER is None:
        pytest.skip("needs Chromium")
    async with browser(tmp_path) as opened:
        yield opened


@pytest_asyncio.fixture
async def page(served, tmp_path) -> AsyncIterator[Page]:
    """The page of a served session, ready for a prompt."""
    if BROWSER is None:
        pytest.skip("needs Chromium")
    async with web_server(served.server, 0, TOKEN, tmp_path / "agent") as url, browser(tmp_path) as opened:
        opened.url = f"{url}?token={TOKEN}"
        await opened.open(opened.url)
        await opened.until("document.getElementById('state')?.textContent === 'ready'")
        yield opened

"""The application of docs/asgi.md below FastAPI, in a real server: requests, both kinds of streams, and the end."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from pi_testing.patience import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(
        find_spec("fastapi") is None, reason="needs FastAPI: uv run python tools/heavy_environments.py serve --test"
    ),
]

PAGE = Path(__file__).parents[4] / "docs" / "asgi.md"
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
FASTAPI = """
from fastapi import FastAPI

app = FastAPI(lifespan=lifespan)
app.mount("/pi", sessions)


@app.get("/hello")
def hello():
    return "hello"
"""
MINE = {"Authorization": "Bearer token-of-ann"}


@contextmanager
def serving(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Uvicorn with the application, and its address."""
    (folder / "app.py").write_text(PROGRAMS[0] + FASTAPI)
    command = [sys.executable, "-m", "uvicorn", "app:app", "--port", "0", "--no-use-colors"]
    environ = {**os.environ, "HOME": str(folder), "PI_CODING_AGENT_DIR": str(folder / "agent")}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, text=True, env=environ) as process:
        said = ""
        try:
            while (found := re.search(r"running on (http://[\d.:]+)", said)) is None:
                line = process.stderr.readline()
                assert line, said
                said += line
            yield process, found[1]
        finally:
            process.kill()


async def test_an_application_in_fastapi_serves_fifty_sessions_streams_and_ends(tmp_path) -> None:
    work = tmp_path / "users" / "ann" / "work"
    work.mkdir(parents=True)
    for number in range(50):
        (work / f"part-{number}.txt").write_text("word " * number)
    names: dict = {}
    exec(compile(PROGRAMS[1], str(PAGE), "exec"), names)  # noqa: S102 - the page's own program
    with serving(tmp_path) as (process, address):
        async with httpx.AsyncClient(base_url=address, timeout=60, trust_env=False) as client:
            hello = (await client.get("/hello")).json()
            answers = await names["fifty_at_once"](client)
            opened = (await client.get("/pi/sessions", headers=MINE)).json()["sessions"]
            described = (await client.get("/pi/openapi.json", headers=MINE)).json()
            session = f"/pi/sessions/{opened[0]}"
            events = await _events(client, session)
        messages = await _messages(f"{address.replace('http', 'ws', 1)}{session}/socket")
        with pytest.raises(ConnectionClosed) as refused:
            await _messages(f"{address.replace('http', 'ws', 1)}/pi/sessions/0000/socket")
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=PATIENCE)

    assert hello == "hello"
    assert all(f"part-{number}.txt has {number} word" in answer for number, answer in enumerate(answers))
    assert len(opened) == 50
    assert described["servers"] == [{"url": "/pi"}]
    assert events[-1]["type"] == "agent_settled"
    assert messages[0] == {**messages[0], "type": "hello", "sessionId": opened[0], "role": "observe"}
    assert [len(line["entries"]) > 0 for line in messages if line["type"] == "entries"] == [True]
    assert refused.value.rcvd.code == 4404
    assert "Traceback" not in errors
    assert process.returncode in (0, -signal.SIGTERM)


async def _events(client: httpx.AsyncClient, session: str) -> list[dict]:
    """Return what the stream of events of a prompt has."""
    found = []
    async with client.stream("GET", f"{session}/events", headers=MINE) as stream:
        assert stream.headers["Content-Type"] == "text/event-stream"
        async for line in stream.aiter_lines():
            if line.startswith("data: "):
                found.append(json.loads(line.removeprefix("data: ")))
            if len(found) == 1:
                await client.post(f"{session}/commands", headers=MINE, json={"type": "prompt", "message": "Go"})
            if found and found[-1].get("type") == "agent_settled":
                return found
    raise AssertionError(found)


async def _messages(address: str) -> list[dict]:
    """Return what an observer gets at once over a WebSocket."""
    async with connect(address, additional_headers=MINE, proxy=None) as socket:
        await socket.send('{"type": "hello", "role": "observe"}')
        return [json.loads(await socket.recv()) for _ in range(2)]

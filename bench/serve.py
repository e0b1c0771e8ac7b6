"""What several clients of one session cost: ``uv run python bench/serve.py``.

``pi serve`` answers a prompt with 5,000 deltas in 10 seconds, to one client and to 21: what the 20 others add to its
CPU time is divided by their number and by the events. They observe, over the socket and, in a second row, over the
WebSocket. The bar is 0.3 ms an event and client. ``get_state`` is asked and answered over the socket, one at a time:
the bar is 2 ms, there and back.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
from _fake import fake_server, prompt
from _measure import show
from rpc import MODELS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _fake import Fake

ROUNDS = 1000
DELTAS = 5_000
CLIENTS = 20
SECONDS = 10


@contextmanager
def serving(folder: Path, fake: Fake) -> Iterator[tuple[psutil.Process, str, str]]:
    """Yield a process that serves, its socket, and its address with the token."""
    agent = folder / "agent"
    agent.mkdir(exist_ok=True)
    MODELS["providers"]["fake"]["baseUrl"] = fake.url
    (agent / "models.json").write_text(json.dumps(MODELS))
    env = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "PI_CODING_AGENT_DIR": str(agent), "PYTHONUTF8": "1"}
    options = ["--socket", str(folder / "s"), "--port", "0", "--model", "fake/fake", "--no-session"]
    command = [sys.executable, "-P", "-m", "pi_cli", "serve", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=folder, env=env, text=True) as process:
        assert process.stdout is not None
        lines = dict(process.stdout.readline().split() for _ in range(3))
        yield psutil.Process(process.pid), lines["socket"], lines["web"]
        process.terminate()


class Client:
    """A client of the socket."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def join(cls, path: str, **hello: str) -> Client:
        """Connect and say hello."""
        client = cls(*await asyncio.open_unix_connection(path, limit=2**26))
        client.say(type="hello", **hello)
        await client.until(b'"entries"')
        return client

    def say(self, **line: Any) -> None:
        """Write a command."""
        self._writer.write(json.dumps(line).encode() + b"\n")

    async def until(self, wanted: bytes) -> None:
        """Read until a line has this in it."""
        while wanted not in (line := await self._reader.readline()):
            assert line, "pi has ended"


async def round_trip(client: Client) -> float:
    took = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        client.say(type="get_state")
        await client.until(b'"get_state"')
        took.append(time.perf_counter() - started)
    return statistics.median(took)


async def answered(client: Client, process: psutil.Process) -> float:
    """Return the CPU time of an answer, in seconds."""
    before = process.cpu_times()
    client.say(type="prompt", message=prompt(DELTAS, seconds=SECONDS))
    await client.until(b'"agent_settled"')
    after = process.cpu_times()
    return float(after.user - before.user + after.system - before.system)


async def watch_web(url: str) -> None:
    """Read everything that comes."""
    from websockets.asyncio.client import connect

    address, _, token = url.partition("?token=")
    headers = {"Authorization": f"Bearer {token}"}
    async with connect(
        f"ws{address.removeprefix('http')}socket", additional_headers=headers, max_size=None, proxy=None
    ) as socket:
        await socket.send('{"type": "hello", "role": "observe"}')
        async for _ in socket:
            pass


async def measure(process: psutil.Process, path: str, url: str) -> list[tuple[str, float, float | None]]:
    asking = await Client.join(path)
    await answered(asking, process)
    trip, alone = await round_trip(asking), await answered(asking, process)
    rows: list[tuple[str, float, float | None]] = [("get_state, there and back", trip * 1e6, 2000.0)]
    watching = [await Client.join(path, role="observe") for _ in range(CLIENTS)]
    reading = [asyncio.ensure_future(each.until(b"never")) for each in watching]
    rows.append(("an event, a client of the socket", each_cost(await answered(asking, process), alone), 300.0))
    for task in reading:
        task.cancel()
    for client in watching:
        client._writer.close()  # noqa: SLF001 - of this file
    webs = [asyncio.ensure_future(watch_web(url)) for _ in range(CLIENTS)]
    await asyncio.sleep(1)
    rows.append(("an event, a client of the WebSocket", each_cost(await answered(asking, process), alone), 300.0))
    for task in webs:
        task.cancel()
    return rows


def each_cost(together: float, alone: float) -> float:
    """Return the microseconds an event and client."""
    return (together - alone) * 1e6 / (DELTAS * CLIENTS)


def main() -> None:
    with tempfile.TemporaryDirectory() as name, fake_server(Path(name)) as fake, serving(Path(name), fake) as served:
        rows = asyncio.run(measure(*served))
    show("pi serve", "µs", rows)


if __name__ == "__main__":
    main()

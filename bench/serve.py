"""What several clients of one session cost: ``uv run python bench/serve.py``.

``pi serve`` answers a prompt with 5,000 deltas in 10 seconds, to one client and to 21: what the 20 others add to its
CPU time is divided by their number and by the events. They observe, over the socket and, in a second row, over the
WebSocket. The bar is 0.3 ms an event and client. ``get_state`` is asked and answered over the socket, one at a time:
the bar is 2 ms, there and back. With the clients connected and idle it uses no CPU: at most 1 ms in ten seconds. Fifty
idle sessions of the ASGI application in one process hold at most 2 MB each, in memory of their own (USS).

A key typed in an attached screen is painted in at most 1.3 of the time that it takes in a local one: medians of 40
keys, in five pairs that take turns, at a terminal of 100x40 cells.
"""

from __future__ import annotations

import asyncio
import gc
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
from _peer import Program
from _pty import terminal
from rpc import MODELS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from _fake import Fake

ROUNDS = 1000
IDLE = 10
SESSIONS = 50
KEYS, PAIRS = 40, 5
DELTAS = 5_000
CLIENTS = 20
SECONDS = 10


def environ(folder: Path) -> dict[str, str]:
    """Return all that pi sees of the environment."""
    agent = {"PI_CODING_AGENT_DIR": str(folder / "agent"), "PYTHONUTF8": "1"}
    return {"PATH": "/usr/bin:/bin", "HOME": str(folder), "PWD": str(folder), **agent}


@contextmanager
def serving(folder: Path, fake: Fake) -> Iterator[tuple[psutil.Process, str, str]]:
    """Yield a process that serves, its socket, and its address with the token."""
    agent = folder / "agent"
    agent.mkdir(exist_ok=True)
    MODELS["providers"]["fake"]["baseUrl"] = fake.url
    (agent / "models.json").write_text(json.dumps(MODELS))
    env = environ(folder)
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
    await asyncio.sleep(1)
    before = process.cpu_times()
    await asyncio.sleep(IDLE)
    after = process.cpu_times()
    rest = (after.user - before.user + after.system - before.system) * 1e6
    rows.append((f"CPU in {IDLE} s at rest, with a client", rest, 1000.0))
    webs = [asyncio.ensure_future(watch_web(url)) for _ in range(CLIENTS)]
    await asyncio.sleep(1)
    rows.append(("an event, a client of the WebSocket", each_cost(await answered(asking, process), alone), 300.0))
    for task in webs:
        task.cancel()
    return rows


def each_cost(together: float, alone: float) -> float:
    """Return the microseconds an event and client."""
    return (together - alone) * 1e6 / (DELTAS * CLIENTS)


async def held_by_sessions() -> float:
    """Return the bytes that one of fifty idle sessions adds to a process."""
    from pi_core import PluginHost, SessionManager, create_agent_session
    from pi_serve.asgi import SessionsApp

    host = PluginHost()

    def create(_user: str, _stored: str | None) -> Any:
        memory = SessionManager.in_memory()
        return create_agent_session(model="offline/rules", host=host, session_manager=memory, mode="serve")

    app = SessionsApp(lambda _scope: "ann", create, max_sessions=SESSIONS + 1)

    async def open_one() -> None:
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b""}

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": "/sessions", "headers": [], "query_string": b""}
        await app(scope, receive, send)
        assert sent[0]["status"] == 201, sent

    def held() -> int:
        gc.collect()
        return int(psutil.Process().memory_full_info().uss)

    await open_one()  # what all sessions share comes with the first
    before = held()
    for _ in range(SESSIONS):
        await open_one()
    added = (held() - before) / SESSIONS
    await app.close()
    return added


def attached_to_local(folder: Path, socket: str) -> float:
    """Return the time of a key in an attached screen, as a part of that in a local one."""
    pi = Program("pi", (sys.executable, "-P", "-m", "pi_cli"), environ(folder))
    local, attached = ("--model", "fake/fake", "--no-session"), ("attach", socket)
    pairs = [(key_time(pi, local), key_time(pi, attached)) for _ in range(PAIRS)]
    print(f"keys, local and attached: {', '.join(f'{one:.1f} and {other:.1f} ms' for one, other in pairs)}\n")
    return statistics.median(other for _, other in pairs) / statistics.median(one for one, _ in pairs)


def key_time(program: Program, arguments: Sequence[str]) -> float:
    """Return the median milliseconds from a key to its paint."""
    with terminal(program, arguments) as running:
        running.until_ready("fake")
        running.read_for(1)
        waits = []
        for number in range(KEYS):
            waits.append(running.key("QZX"[number % 3], "QZX"[number % 3]))
            running.read_for(0.05)
        return statistics.median(waits)


def main() -> None:
    with tempfile.TemporaryDirectory() as name, fake_server(Path(name)) as fake, serving(Path(name), fake) as served:
        rows = asyncio.run(measure(*served))
        part = attached_to_local(Path(name), served[1])
    show("pi serve", "µs", rows)
    show("A key in an attached screen", "of local", [("median", part, 1.3)])
    held = asyncio.run(held_by_sessions())
    show("Sessions of the ASGI application", "MB", [(f"one of {SESSIONS} idle sessions", held / 1e6, 2.0)])


if __name__ == "__main__":
    main()

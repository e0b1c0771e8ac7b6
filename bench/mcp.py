"""What MCP servers cost pi: ``uv run --group dev python bench/mcp.py``.

The first request of ``pi -p`` with five servers of 18 tools each, whose tools are known, next to none, in turns; 200
calls over pi's path, next to a bare client of the SDK; the first answer over RPC and the stalls of the event loop while
five servers are connected; pi's own memory with five servers connected, and while one sends
200 MB in a line.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from startup import compile_everything, one_run

sys.path.remove(str(Path(__file__).parent))  # Python puts it first, where this file would hide the SDK's package

SERVER = Path(__file__).parents[1] / "plugins" / "tools" / "mcp" / "tests" / "servers" / "fault_server.py"
ROUNDS = 9
CALLS = 200
CONNECTING = 5.0
"""Seconds that five servers have to connect."""


def entry() -> dict[str, object]:
    return {"command": sys.executable, "args": [str(SERVER)]}


def first_request() -> None:
    """CPU and wall time of the whole process: the best of some rounds, in turns."""
    command = [str(Path(sys.executable).with_name("pi")), "--model", "offline/rules", "-p", "list the files here"]
    with tempfile.TemporaryDirectory() as folder:
        places = {"no mcp.json": Path(folder, "none"), "5 servers, tools known": Path(folder, "five")}
        for place in places.values():
            place.mkdir()
        servers = {f"s{n}": {**entry(), "env": {"N": str(n)}} for n in range(5)}
        places["5 servers, tools known"].joinpath("mcp.json").write_text(json.dumps({"mcpServers": servers}))
        environments = {what: {**os.environ, "PI_CODING_AGENT_DIR": str(place)} for what, place in places.items()}
        for env in environments.values():
            one_run(command, folder, env)  # writes index and tool lists
        best: dict[str, tuple[float, float]] = {}
        for _ in range(ROUNDS):
            for what, env in environments.items():
                cpu, wall = one_run(command, folder, env)
                known = best.get(what, (cpu, wall))
                best[what] = (min(cpu, known[0]), min(wall, known[1]))
    base = best["no mcp.json"]
    print(f"{'first request of pi -p':46} {'CPU ms':>10} {'wall ms':>10} {'CPU':>8} {'wall':>8}")
    for what, (cpu, wall) in best.items():
        print(f"{what:46} {cpu:10.1f} {wall:10.1f} {cpu / base[0]:7.2f}x {wall / base[1]:7.2f}x")


STALL = """
import asyncio, time
from pathlib import Path

def activate(pi):
    async def tick():
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0.002)
            now = time.perf_counter()
            tick.worst, last = max(tick.worst, now - last - 0.002), now

    tick.worst = 0.0
    pi.on("session_start", lambda event: setattr(tick, "task", asyncio.create_task(tick())))
    pi.on("session_shutdown", lambda event: Path("stall").write_text(str(tick.worst * 1000)))
"""


def in_the_background() -> None:
    """The first answer of ``pi --mode rpc``, and the longest stall of its event loop while five servers connect."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "stall.py").write_text(STALL)
        places = {"no mcp.json": Path(folder, "none"), "5 servers connect meanwhile": Path(folder, "five")}
        for place in places.values():
            place.mkdir()
        servers = {f"s{n}": {**entry(), "env": {"N": str(n)}} for n in range(5)}
        places["5 servers connect meanwhile"].joinpath("mcp.json").write_text(json.dumps({"mcpServers": servers}))
        best: dict[str, tuple[float, float]] = {}
        for number in range(ROUNDS // 2 + 1):
            for what, place in places.items():
                took, stall = asyncio.run(one_answer(folder, place))
                known = best.get(what, (took, stall))
                if number:  # the first writes the tool lists
                    best[what] = (min(took, known[0]), min(stall, known[1]))
    base = best["no mcp.json"]
    print(f"\n{'first answer of pi --mode rpc':46} {'wall ms':>10} {'longest stall ms':>18} {'wall':>8}")
    for what, (took, stall) in best.items():
        print(f"{what:46} {took:10.1f} {stall:18.1f} {took / base[0]:7.2f}x")


async def one_answer(folder: str, place: Path) -> tuple[float, float]:
    """Return the milliseconds from the start of pi to its answer, and those of the longest stall."""
    from pi_client import PiClient

    command = (str(Path(sys.executable).with_name("pi")),)
    env = {**os.environ, "PI_CODING_AGENT_DIR": str(place)}
    options = ("-e", "stall.py", "--no-session", "--model", "offline/rules")
    started = time.perf_counter()
    async with PiClient.start(*options, command=command, cwd=folder, env=env, stderr=-3) as pi:
        await pi.ask("list the files here")
        took = time.perf_counter() - started
        await asyncio.sleep(CONNECTING)
    return took * 1000, float(Path(folder, "stall").read_text())  # noqa: ASYNC240 - all is over


def memory() -> float:
    """Return the resident megabytes of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def spec(name: str) -> dict[str, object]:
    spawn = {"argv": [sys.executable, str(SERVER)], "cwd": "/", "env": {"PATH": os.environ["PATH"]}}
    return {"name": name, "transport": "stdio", "spawn": spawn, "timeout": 60}


async def over_pi(folder: Path) -> tuple[float, float, float]:
    """Return the median of a call in milliseconds, and the megabytes that five servers and a huge line cost pi."""
    from pi_mcp.link import Link, RequestFailed

    link = Link(folder)
    await link.request("open", "warm", **spec("warm"))
    before = memory()
    await asyncio.gather(*(link.request("open", f"s{n}", **spec(f"s{n}")) for n in range(5)))
    connected = memory() - before
    times = []
    for _ in range(CALLS):
        started = time.perf_counter()
        await link.request("call", "s0", tool="echo", arguments={"text": "x"}, timeout=60)
        times.append(time.perf_counter() - started)
    before = memory()
    with contextlib.suppress(RequestFailed):
        await link.request("call", "s1", tool="huge", arguments={}, timeout=60)
    huge = memory() - before
    await link.stop()
    return statistics.median(times) * 1000, connected, huge


async def over_sdk() -> float:
    """Return the median of a call of a bare client of the SDK in milliseconds."""
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    times = []
    async with Client(StdioServerParameters(command=sys.executable, args=[str(SERVER)])) as client:
        for _ in range(CALLS):
            started = time.perf_counter()
            await client.call_tool("echo", {"text": "x"})
            times.append(time.perf_counter() - started)
    return statistics.median(times) * 1000


def main() -> None:
    compile_everything()
    first_request()
    in_the_background()
    with tempfile.TemporaryDirectory() as folder:
        ours, connected, huge = asyncio.run(over_pi(Path(folder)))
    bare = asyncio.run(over_sdk())
    print(f"\nmedian of {CALLS} calls: pi {ours:.2f} ms, bare SDK {bare:.2f} ms, {ours / bare:.2f}x")
    print(f"pi's memory: {connected:+.1f} MB with 5 servers connected, {huge:+.1f} MB after a line of 200 MB")


if __name__ == "__main__":
    main()

"""What MCP servers cost pi: ``uv run --group dev python bench/mcp_servers.py``.

The first request of ``pi -p`` with five servers of 18 tools each, whose tools are known, next to none, in turns; 200
calls over pi's path, next to a bare client of the SDK; pi's own memory with five servers connected, and while one sends
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

SERVER = Path(__file__).parents[1] / "plugins" / "tools" / "mcp" / "tests" / "servers" / "fault_server.py"
ROUNDS = 9
CALLS = 200


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


def memory() -> float:
    """Return the resident megabytes of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def spec(name: str) -> dict[str, object]:
    spawn = {"argv": [sys.executable, str(SERVER)], "cwd": "/", "env": {"PATH": os.environ["PATH"]}}
    return {"name": name, "transport": "stdio", "spawn": spawn, "timeout": 60}


async def over_pi(folder: Path) -> tuple[float, float, float]:
    """Return the median of a call in milliseconds, and the megabytes that five servers and a huge line cost pi."""
    from pi_mcp._link import Link, RequestFailed

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
    with tempfile.TemporaryDirectory() as folder:
        ours, connected, huge = asyncio.run(over_pi(Path(folder)))
    bare = asyncio.run(over_sdk())
    print(f"\nmedian of {CALLS} calls: pi {ours:.2f} ms, bare SDK {bare:.2f} ms, {ours / bare:.2f}x")
    print(f"pi's memory: {connected:+.1f} MB with 5 servers connected, {huge:+.1f} MB after a line of 200 MB")


if __name__ == "__main__":
    main()

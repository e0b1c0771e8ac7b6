"""What idle sessions hold in memory: ``uv run python bench/memory.py``.

Resident memory of a process of its own in which sessions with all installed plugins wait: one, and 1,000. Each has a
plugin host, settings and a stored session of its own, as ``create_agent_session`` makes them. It is only started, or
has answered a prompt of the offline model, with a tool call, before. A further session's share is the difference,
divided by how many.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import subprocess
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path

from _measure import show

MANY = 1000
PROMPT = "count the lines of note.txt"


def resident() -> float:
    """Return the megabytes that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


async def wait(count: int, prompt: str) -> None:
    """Print what the process holds with so many sessions that wait."""
    from pi_core import create_agent_session

    async with AsyncExitStack() as sessions:
        for _ in range(count):
            session = await sessions.enter_async_context(create_agent_session(model="offline/rules"))
            if prompt:
                await session.prompt(prompt)
        gc.collect()
        print(resident())


def measure(count: int, prompt: str) -> float:
    """Return the megabytes of a process with so many sessions, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "note.txt").write_text("a\nb\n", encoding="utf-8")
        command = [sys.executable, str(Path(__file__).absolute()), "--wait", str(count), "--prompt", prompt]
        env = {**os.environ, "PI_CODING_AGENT_DIR": str(Path(folder, "agent"))}
        measured = 0.0
        for _ in range(2):  # the first run makes the index of plugins
            measured = float(subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True).stdout)
            if count > 1:
                break
        return measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=MANY, help="how many are many (default: %(default)s)")
    parser.add_argument("--wait", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--prompt", default="", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.wait is not None:
        asyncio.run(wait(chosen.wait, chosen.prompt))
        return
    for state, prompt in (("started", ""), ("after an answer", PROMPT)):
        one, many = measure(1, prompt), measure(chosen.sessions, prompt)
        rows = [
            ("one session", one, 60.0),
            ("each further one", (many - one) / (chosen.sessions - 1), 2.0),
            (f"{chosen.sessions:,} sessions", many, 2000.0 * chosen.sessions / MANY),
        ]
        show(f"Idle sessions, {state}", "MB", rows)


if __name__ == "__main__":
    main()

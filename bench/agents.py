"""What an agent costs: ``uv run python bench/agents.py``.

The processor time and the memory of a child session with all installed plugins, from creation to end, and a call
of ``task`` compared with a call of a tool that does nothing but ask a child session. The model is scripted.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import tempfile
import time
import tracemalloc
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from _measure import show

from pi_core import PluginHost, SessionManager, Settings, create_agent_session
from pi_hookspecs import ToolContext, tool
from pi_testing import text, tool_call
from pi_testing.scripted import ScriptedProvider

if TYPE_CHECKING:
    from pi_core import AgentSession

ALIVE = 10
"""Child sessions that are kept alive while their memory is measured."""


@tool
async def child(prompt: str, ctx: ToolContext) -> str:
    """Ask a bare child session."""
    async with ctx.create_session(persist=True, tools=ctx.tools, label="child") as session:
        answer = await session.prompt(prompt)
        return answer.text


async def child_rows(session: AgentSession, script: ScriptedProvider, rounds: int) -> list[tuple[str, float, float]]:
    """Return milliseconds of processor time for each child session, best of many, and megabytes for one that lives."""
    best = min([await _child(session, script) for _ in range(rounds)])
    gc.collect()
    tracemalloc.start()
    async with AsyncExitStack() as stack:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(ALIVE):
            script.turn(text("Found it."))
            child = await stack.enter_async_context(session.ctx.create_session(persist=True, label="agent"))
            await child.prompt("Look around")
        gc.collect()
        size = (tracemalloc.get_traced_memory()[0] - before) / ALIVE / 1e6
    tracemalloc.stop()
    return [("a child session: ms of processor time", best, 50.0), ("a child session: MB", size, 3.0)]


async def _child(session: AgentSession, script: ScriptedProvider) -> float:
    script.turn(text("Found it."))
    started = time.process_time()
    async with session.ctx.create_session(persist=True, label="agent") as child:
        await child.prompt("Look around")
    return (time.process_time() - started) * 1000


async def task_row(session: AgentSession, script: ScriptedProvider, rounds: int) -> tuple[str, float, float]:
    """Return the processor time of a call of ``task`` as a multiple of that of a bare child session."""
    best: dict[str, float] = {}
    for _ in range(rounds):
        for name in ("child", "task"):
            script.turn(tool_call(name, prompt="Look around")).turn(text("Found it.")).turn(text("Done."))
            started = time.process_time()
            await session.prompt("begin")
            best[name] = min(best.get(name, 1e9), time.process_time() - started)
            await session.new_session()
    print(f"a prompt with a child {best['child'] * 1000:.1f} ms, with task {best['task'] * 1000:.1f} ms\n")
    return "task, as a multiple of a bare child", best["task"] / best["child"], 1.2


async def _measure(rounds: int, cwd: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PI_CODING_AGENT_DIR"] = str(Path(folder, "agent"))
        settings = Settings.in_memory({"agents": {"enabled": True}}, agent_dir=Path(folder, "agent"))
        host, script = PluginHost(settings), ScriptedProvider()
        async with create_agent_session(
            cwd=cwd,
            host=host,
            settings=settings,
            plugins={"script": script},
            model=script.model,
            session_manager=SessionManager.create(cwd, host=host),
            custom_tools=[child],
        ) as session:
            task = await task_row(session, script, rounds)
            show("Agents", "", [*await child_rows(session, script, rounds), task])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20, help="child sessions, and calls of each tool")
    with tempfile.TemporaryDirectory() as cwd:
        asyncio.run(_measure(parser.parse_args().rounds, Path(cwd)))


if __name__ == "__main__":
    main()

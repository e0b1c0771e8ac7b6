"""Code mode against plain calls: ``uv run python bench/codemode.py``.

Tokens are those of the requests that a scripted model receives, by the estimate that pi itself uses: 40 tools of a
server and three calls, once by three turns with all tools declared, once by a script. Times are wall-clock medians; the
model takes half a second to write a script, in which the script's process starts.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
from pathlib import Path
from typing import Any

from _measure import show

import pi_codemode
from pi_core import PluginHost, Settings, create_agent_session
from pi_core.models.token_estimate import estimate_request_tokens, estimate_tokens
from pi_hookspecs import Tool, ToolResult, hookimpl
from pi_testing import ScriptedProvider, text, tool_call

TOOLS = 40
CALLS = 200
WRITING = 0.5
"""Seconds that the model takes to answer."""
SCRIPTS = 15
_PARAMETERS = {
    "type": "object",
    "properties": {
        "harbour": {"type": "string", "description": "The harbour whose table is read, by its name or its number"},
        "day": {"type": "string", "description": "The day, as YYYY-MM-DD; today without it"},
        "limit": {"type": "integer", "description": "Most rows of the answer, 20 by default"},
    },
    "required": ["harbour"],
}


class Server:
    """Forty tools as those of an MCP server.

    Args:
        exposure: When the model is offered them.
    """

    def __init__(self, exposure: Any) -> None:
        self._exposure = exposure

    @hookimpl
    def register_tools(self) -> list[Tool]:
        """Add the tools."""
        return [self._tool(number) for number in range(TOOLS)]

    def _tool(self, number: int) -> Tool:
        async def execute(*_: Any) -> ToolResult:
            return ToolResult.text(f"high water {number}: 12:00")

        return Tool(
            name=f"mcp__tides__table_{number}",
            description=f"Read table {number} of the tides. Use it to learn when water is high or low in a harbour.",
            parameters=_PARAMETERS,
            execute=execute,
            exposure=self._exposure,
        )


async def requests(exposure: str, turns: list[Any], *, enabled: bool) -> tuple[int, float]:
    """Run a prompt; return the tokens of all requests, and the seconds that the last tool call took."""
    script = ScriptedProvider()
    for turn in turns:
        script.turn(_slowly(turn))
    script.turn(text("Done."))
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.in_memory({"codemode": {"enabled": enabled}}, agent_dir=Path(folder))
        session = create_agent_session(
            cwd=Path(folder),
            settings=settings,
            host=PluginHost(settings, installed=False),
            plugins={"script": script, "codemode": pi_codemode, "server": Server(exposure)},
            model=script.model,
        )
        async with session:
            await session.prompt("When is high water?")
    contexts = [request.context for request in script.requests]
    tokens = sum(
        estimate_request_tokens(each.system_prompt, each.tools, sum(map(estimate_tokens, each.messages)))
        for each in contexts
    )
    return tokens, (script.requests[-1].tool_results[-1].duration_ms or 0) / 1000


def _slowly(turn: Any) -> Any:
    async def answer(_request: Any) -> Any:
        await asyncio.sleep(WRITING)
        return turn

    return answer


async def tokens() -> float:
    """Return the tokens of a script relative to those of three turns."""
    calls = [tool_call(f"mcp__tides__table_{number}", harbour="Brest") for number in range(3)]
    plain, _ = await requests("direct", calls, enabled=False)
    script = "\n".join(f"print(await mcp.tides.table_{number}(harbour='Brest'))" for number in range(3))
    coded, _ = await requests("code", [tool_call("codemode", code=script)], enabled=True)
    print(f"{TOOLS} tools, 3 calls: {plain} tokens by three turns, {coded} by a script\n")
    return coded / plain


async def milliseconds(code: str) -> float:
    """Return the median milliseconds of a script whose process is warm."""
    turn = tool_call("codemode", code=code)
    found = [(await requests("code", [turn], enabled=True))[1] for _ in range(SCRIPTS)]
    return statistics.median(found) * 1000


async def main() -> None:
    share = await tokens()
    empty = await milliseconds("None")
    many = await milliseconds(f"for _ in range({CALLS}):\n    await mcp.tides.table_0(harbour='Brest')")
    show("Tokens of the requests", "ratio", [("a script, relative to three turns", share, 0.35)])
    show(
        "Time",
        "ms",
        [("a warm script that does nothing", empty, 10.0), ("a call from a script", (many - empty) / CALLS, 0.5)],
    )


if __name__ == "__main__":
    asyncio.run(main())

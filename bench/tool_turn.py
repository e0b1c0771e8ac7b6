"""What a tool turn costs the engine: ``uv run python bench/tool_turn.py``.

One turn is a request, one call of a trivial tool with its arguments validated, and its result in the next request. CPU
time per turn over a run of many, so that the conversation grows as it does in earnest. The bar is 10 ms.
"""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any

from _measure import cpu_per_step, show

from pi_core import Agent, PluginHost, Settings, create_agent_session
from pi_hookspecs import MessageBuilder, Model, ProviderInfo, Tool, ToolResult, hookimpl

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from pi_hookspecs import AssistantMessageEvent, Context, Provider, StreamOptions

BAR = 10_000.0
MODEL = Model(id="caller", name="Caller", api="caller", provider="caller")


async def execute(*_: Any) -> ToolResult:
    return ToolResult.text("ok")


TOOL = Tool(
    name="trivial",
    description="Does nothing.",
    parameters={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    execute=execute,
)


class Caller:
    """A provider and a plugin: calls the tool for a given number of turns, then answers."""

    api = "caller"

    def __init__(self, turns: int, calls: int = 1) -> None:
        self._left = turns
        self._calls = calls

    async def stream(
        self, model: Model, _context: Context, _options: StreamOptions
    ) -> AsyncIterator[AssistantMessageEvent]:
        """Answer."""
        builder = MessageBuilder(model)
        yield builder.start()
        if self._left:
            self._left -= 1
            for index in range(self._calls):
                yield builder.tool_call_start(f"{self._left}-{index}", "trivial")
                yield builder.tool_call(index, '{"path": "README.md"}')
                yield builder.tool_call_end(index)
        yield builder.done()

    @hookimpl
    def register_providers(self) -> Sequence[Provider]:
        """Answer for an API of its own."""
        return [self]

    @hookimpl
    def register_models(self) -> Sequence[ProviderInfo]:
        """Add the one model."""
        return [ProviderInfo(id="caller", name="Caller", api="caller", keyless=True, models=(MODEL,))]


class Listens:
    """A plugin with an opinion on everything about tools."""

    @hookimpl
    async def tool_call(self, event):  # noqa: ANN001, ANN201 - as a plugin's author writes it
        """Have no opinion."""

    @hookimpl
    async def tool_result(self, event):  # noqa: ANN001, ANN201 - as above
        """Leave it."""

    @hookimpl
    async def context(self, event):  # noqa: ANN001, ANN201 - as above
        """Leave it."""

    @hookimpl
    async def turn_end(self, event):  # noqa: ANN001, ANN201 - as above
        """Add nothing."""


async def bare(turns: int) -> None:
    caller = Caller(turns)
    context: Any = None
    for _ in range(turns):
        async for _event in caller.stream(MODEL, context, context):
            pass
        await TOOL.execute("c", {"path": "README.md"}, context, context, context)


async def through_agent(turns: int) -> None:
    agent = Agent(stream=Caller(turns).stream, model=MODEL, tools=[TOOL])
    await agent.prompt("go")
    assert len(agent.state.messages) == 2 * turns + 2


async def four_at_once(turns: int) -> None:
    agent = Agent(stream=Caller(turns, calls=4).stream, model=MODEL, tools=[TOOL])
    await agent.prompt("go")
    assert len(agent.state.messages) == 5 * turns + 2


def through_session(*plugins: object) -> Callable[[int], Awaitable[None]]:
    async def work(turns: int) -> None:
        settings = Settings.in_memory({}, agent_dir=tempfile.gettempdir())
        host = PluginHost(settings, installed=False)
        named = {"caller": Caller(turns), **{f"plugin-{number}": each for number, each in enumerate(plugins)}}
        session = create_agent_session(settings=settings, host=host, plugins=named, model=MODEL, custom_tools=[TOOL])
        async with session:
            await session.prompt("go")
        assert len(session.messages) == 2 * turns + 2

    return work


def main() -> None:
    measured: list[tuple[str, Callable[[int], Awaitable[None]], int, float | None]] = [
        ("peer: read the stream, await the tool", bare, 500, None),
        ("loop and agent", through_agent, 500, BAR),
        ("loop and agent, four calls at once", four_at_once, 200, BAR),
        ("loop, agent, session", through_session(), 500, BAR),
        ("loop, agent, session, a plugin on four hooks", through_session(Listens()), 500, BAR),
        ("the same in a run of 2,000 turns", through_session(Listens()), 2_000, BAR),
    ]
    rows = [
        (what, cpu_per_step(work, turns, rounds=3 if turns < 1_000 else 1), bar) for what, work, turns, bar in measured
    ]
    show("A tool turn, CPU per turn", "us", rows)


if __name__ == "__main__":
    main()

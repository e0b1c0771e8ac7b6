"""What a streamed delta costs, from a provider's event to a subscriber: ``uv run python bench/stream.py``.

A provider sends a burst of deltas of 16 characters; they go through loop, agent, session and one subscriber that
reads each. CPU time per delta, for messages of 1,000, 100,000 and 1,000,000 deltas: the figure must not grow with the
message. The bar is 30 us from the socket on; what the transport takes of it is measured in ``transport.py``.
"""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any

from _measure import cpu_per_step, show

from pi_core import Agent, PluginHost, Settings, create_agent_session
from pi_hookspecs import MessageBuilder, Model, ProviderInfo, hookimpl

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from pi_hookspecs import AssistantMessageEvent, Context, Provider, StreamOptions

BAR = 30.0
SIZES = ((1_000, 20), (100_000, 3), (1_000_000, 1))
MODEL = Model(id="burst", name="Burst", api="burst", provider="burst")
DELTA = "sixteen letters "


class Burst:
    """A provider and a plugin: answers with one block of as many deltas as it is told."""

    api = "burst"

    def __init__(self, deltas: int, *, arguments: bool = False) -> None:
        self._deltas = deltas
        self._arguments = arguments

    async def stream(
        self, model: Model, _context: Context, _options: StreamOptions
    ) -> AsyncIterator[AssistantMessageEvent]:
        """Answer."""
        builder = MessageBuilder(model)
        yield builder.start()
        if self._arguments:
            yield builder.tool_call_start("c", "t")
            yield builder.tool_call(0, '{"text": "')
            for _ in range(self._deltas):
                yield builder.tool_call(0, DELTA)
            yield builder.fail("enough")  # the call is not run: this measures its arrival
            return
        yield builder.text_start()
        for _ in range(self._deltas):
            yield builder.text(0, DELTA)
        yield builder.text_end(0)
        yield builder.done()

    @hookimpl
    def register_providers(self) -> Sequence[Provider]:
        """Answer for an API of its own."""
        return [self]

    @hookimpl
    def register_models(self) -> Sequence[ProviderInfo]:
        """Add the one model."""
        return [ProviderInfo(id="burst", name="Burst", api="burst", keyless=True, models=(MODEL,))]


class Reader:
    """A subscriber that reads every delta."""

    def __init__(self) -> None:
        self.letters = 0

    def __call__(self, event: Any) -> None:
        """Count the letters of a delta."""
        if event.type == "message_update":
            delta = event.assistant_message_event
            if delta.type in ("text_delta", "toolcall_delta"):
                self.letters += len(delta.delta)


async def bare(deltas: int) -> None:
    context: Any = None
    letters = 0
    async for event in Burst(deltas).stream(MODEL, context, context):
        if event.type == "text_delta":
            letters += len(event.delta)
    assert letters == deltas * len(DELTA)


async def through_agent(deltas: int) -> None:
    agent, reader = Agent(stream=Burst(deltas).stream, model=MODEL), Reader()
    agent.subscribe(reader)
    await agent.prompt("go")
    assert reader.letters == deltas * len(DELTA)


async def arguments_through_agent(deltas: int) -> None:
    agent, reader = Agent(stream=Burst(deltas, arguments=True).stream, model=MODEL), Reader()
    agent.subscribe(reader)
    await agent.prompt("go")
    assert reader.letters > deltas * len(DELTA)


async def through_session(deltas: int) -> None:
    settings = Settings.in_memory({}, agent_dir=tempfile.gettempdir())
    host, reader = PluginHost(settings, installed=False), Reader()
    plugins = {"burst": Burst(deltas)}
    async with create_agent_session(settings=settings, host=host, plugins=plugins, model=MODEL) as session:
        session.subscribe(reader)
        await session.prompt("go")
    assert reader.letters == deltas * len(DELTA)


def main() -> None:
    works: list[tuple[str, Callable[[int], Awaitable[None]], float | None]] = [
        ("peer: read the provider's events and nothing else", bare, None),
        ("loop, agent, subscriber", through_agent, BAR),
        ("the same, a tool's argument", arguments_through_agent, BAR),
        ("loop, agent, session, subscriber", through_session, BAR),
    ]
    rows = [
        (f"{what}, {deltas:,} deltas", cpu_per_step(work, deltas, rounds), bar)
        for what, work, bar in works
        for deltas, rounds in SIZES
    ]
    show("Streamed deltas in a burst, CPU per delta", "us", rows)


if __name__ == "__main__":
    main()

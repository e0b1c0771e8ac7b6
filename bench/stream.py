"""What a streamed delta costs, from a provider's event to a subscriber: ``uv run python bench/stream.py``.

A provider sends a burst of deltas of 16 characters; they go through loop, agent, session and one subscriber that
reads each. CPU time per delta, for messages of 1,000, 100,000 and 1,000,000 deltas: the figure must not grow with the
message. Then the whole way: Anthropic's provider reads a text or a tool's argument, of up to 1 MB, from a loopback
socket. The bar is 30 us from the socket on; what the transport takes of it is measured in ``transport.py``, and the
whole ``pi -p`` compared with the original in ``whole_process.py``.
"""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _fake import DELTA, fake_server, prompt
from _measure import cpu_per_step, show

import pi_provider_anthropic
from pi_core import Agent, PluginHost, Settings, create_agent_session
from pi_hookspecs import MessageBuilder, Model, ProviderInfo, hookimpl

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from pi_hookspecs import AssistantMessageEvent, Context, Provider, StreamOptions

BAR = 30.0
SIZES = ((1_000, 20), (100_000, 3), (1_000_000, 1))
SOCKET_SIZES = ((1_000, 20), (1024 * 1024 // 160, 10), (1024 * 1024 // 16, 5))
MODEL = Model(id="burst", name="Burst", api="burst", provider="burst")


class Burst:
    """A provider and a plugin: answers with one block of a given number of deltas."""

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


async def from_socket(url: str, kind: str, deltas: int) -> None:
    model = Model(id="claude-fake", name="Fake", api="anthropic-messages", provider="fake", base_url=url)
    models = _OneModel(ProviderInfo(id="fake", name="Fake", api=model.api, keyless=True, models=(model,)))
    settings = Settings.in_memory({}, agent_dir=tempfile.gettempdir())
    host, reader = PluginHost(settings, installed=False), Reader()
    plugins = {"anthropic": pi_provider_anthropic, "models": models}
    async with create_agent_session(settings=settings, host=host, plugins=plugins, model=model) as session:
        session.models.auth.set_runtime_api_key("fake", "bench")
        session.subscribe(reader)
        await session.prompt(prompt(deltas, kind))
    assert reader.letters >= deltas * len(DELTA), reader.letters


class _OneModel:
    """A plugin that adds one provider."""

    def __init__(self, provider: ProviderInfo) -> None:
        self._provider = provider

    @hookimpl
    def register_models(self) -> Sequence[ProviderInfo]:
        """Add it."""
        return [self._provider]


def show_from_socket() -> None:
    with tempfile.TemporaryDirectory() as folder, fake_server(Path(folder)) as fake:
        rows: list[tuple[str, float, float | None]] = [
            (
                f"{what}, {deltas:,} deltas, {deltas * len(DELTA) / 1024:,.0f} KB",
                cpu_per_step(functools.partial(from_socket, fake.url, kind), deltas, rounds),
                BAR,
            )
            for what, kind in (("text", "text"), ("a tool's argument", "argument"))
            for deltas, rounds in SOCKET_SIZES
        ]
        fake.requests()
    show("From the socket: provider-anthropic, loop, agent, session, subscriber; CPU per delta", "us", rows)


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
    show_from_socket()


if __name__ == "__main__":
    main()

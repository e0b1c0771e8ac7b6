"""The ledger and budgets with a virtual model whose prompt is kept in a provider's cache while a tool runs."""

from __future__ import annotations

import asyncio
import json

import pytest
from attrs import evolve

from pi_hookspecs import ModelCost, ProviderInfo, VirtualModel, hookimpl, tool
from pi_testing import text, tool_call, usage

CACHED = usage(cache_read=100_000, output=10, cost=0.05)


class Clock:
    """Calls a timer only when the test does."""

    def __init__(self):
        self.timers = []

    def now(self):
        return 0.0

    def call_later(self, seconds, function):
        self.timers.append(function)
        return lambda: self.timers.remove(function) if function in self.timers else None

    def due(self):
        """Yield the next two timers."""
        for _ in range(2):
            if self.timers:
                yield self.timers.pop()


class Waits:
    """A tool that runs until the prompt was sent again."""

    during = None

    @hookimpl
    def register_tools(self):
        @tool
        async def wait() -> str:
            """Wait."""
            await WAITS.during()
            return "done"

        return [wait]

    @hookimpl
    def before_provider_request(self, event):
        return event.payload | {"max_tokens": 64}


WAITS = Waits()

pytestmark = pytest.mark.pi(
    entry_points=["budgets", "cache-warming"], plugins={"waits": WAITS}, tools=["wait"], session={"ui": None}
)


async def run(session, script):
    """Run a prompt of the virtual model, during whose tool the cache is refreshed."""
    small = evolve(script.model, provider="acme", id="small")
    price = ModelCost(input=5, output=25, cache_read=0.5, cache_write=6.25)
    large = evolve(small, id="large", cost=price, prompt_cache={"short": 300}, max_tokens=100)
    session.models.register_provider(
        "acme", ProviderInfo(id="acme", name="Acme", api="scripted", keyless=True, models=(small, large))
    )
    auto = VirtualModel(
        provider="router",
        id="auto",
        name="Auto",
        route=lambda request, ctx: ("acme/large" if request.reason == "user" else "acme/small", None),
    )
    session.models.register_provider("router", auto)
    await session.set_model(session.models.find("router/auto"))
    clock = session.parts.warming.clock = Clock()

    async def during():
        for refresh in clock.due():
            refresh()
            await asyncio.gather(*session.parts.warming.tasks)

    WAITS.during = during
    return await session.prompt("go")


def ledger(pi_agent_dir):
    lines = (pi_agent_dir / "usage" / "ledger.jsonl").read_text().splitlines()
    return [(each["purpose"], each["plugin"], each["model"]) for each in map(json.loads, lines)]


async def test_the_ledger_names_the_models_that_answered_and_the_refresh(pi_session, script, pi_agent_dir):
    script.turn(tool_call("wait"), CACHED).turn(text("."), CACHED).turn(text("."), CACHED)
    script.turn(text("Done"), usage(cost=0.01))
    answer = await run(pi_session, script)

    assert answer.text == "Done"
    assert ledger(pi_agent_dir) == [
        ("conversation", None, "acme/large"),
        ("cache_warming", "cache-warming", "acme/large"),
        ("cache_warming", "cache-warming", "acme/large"),
        ("conversation", None, "acme/small"),
    ]


@pytest.mark.pi(
    settings={"budgets": {"by": {"cache-warming": {"run": {"dollars": 0.01}}}}},
    plugins={"waits": WAITS},
)
async def test_a_budget_ends_the_refreshes_without_a_question_and_not_the_run(
    pi_session, script, fake_ui, pi_agent_dir
):
    pi_session.ui, pi_session.has_ui = fake_ui, True
    script.turn(tool_call("wait"), CACHED).turn(text("."), CACHED).turn(text("Done"), usage(cost=0.01))
    answer = await run(pi_session, script)

    assert answer.text == "Done"
    assert fake_ui.asked == []
    assert [model for _, _, model in ledger(pi_agent_dir)] == ["acme/large", "acme/large", "acme/small"]

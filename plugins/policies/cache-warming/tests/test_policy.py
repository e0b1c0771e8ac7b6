"""When a refresh pays, by the prices of the catalogue."""

from __future__ import annotations

import pytest
from attrs import evolve

import pi_cache_warming
from pi_cache_warming.policy import Savings, refresh_after
from pi_core import Settings
from pi_hookspecs import CachedPrompt, CacheWarmer, Model, ModelCost, Usage
from pi_testing import for_each

OPUS = Model(
    id="claude-opus-4-8",
    name="Opus",
    api="anthropic-messages",
    provider="anthropic",
    cost=ModelCost(input=5, output=25, cache_read=0.5, cache_write=6.25),
    prompt_cache={"short": 300, "long": 3600},
)
PROMPT = CachedPrompt(
    model=OPUS,
    thinking_level="off",
    has_thinking_budget=False,
    usage=Usage(cache_read=90_000, cache_write=10_000, output=500),
    retention="short",
    lifetime=300,
    phase="run",
    phase_seconds=5,
)


class Ctx:
    def __init__(self, mode=None):
        self.settings = Settings.in_memory({} if mode is None else {"cacheWarming": mode})


def plan(mode=None, **changes):
    return Savings().plan_cache_warming(evolve(PROMPT, **changes), Ctx(mode))


def test_it_is_a_service():
    (service,) = pi_cache_warming.register_services()

    assert isinstance(service, CacheWarmer)


@for_each("lifetime, seconds", [(300, 270), (3600, 3240), (100, 90), (60, 50), (20, 10), (5, 0)])
def test_a_refresh_comes_at_90_percent_and_ten_seconds_before_the_end(lifetime, seconds):
    assert refresh_after(lifetime) == pytest.approx(seconds)


def test_costs_are_those_of_the_catalogue():
    found = plan()

    assert found.warm
    assert found.after_seconds == 270
    assert found.miss_cost == pytest.approx(100_000 * (6.25 - 0.5) / 1e6)
    assert found.refresh_cost == pytest.approx((100_000 * 0.5 + 25) / 1e6)
    assert found.savings == pytest.approx(found.miss_cost - found.refresh_cost)
    assert plan(retention="long").miss_cost == pytest.approx(100_000 * (10 - 0.5) / 1e6)


LARGE = Usage(cache_read=200_000)


@for_each(
    "mode, changes, warm, reason",
    [
        (None, {}, True, ""),
        ("streaming", {}, True, ""),
        ("off", {}, False, "off"),
        ("unknown", {}, True, ""),
        (None, {"phase": "idle"}, False, "nothing is running"),
        ("idle", {"phase": "idle"}, False, "expected savings are $0.04"),
        ("idle", {"phase": "idle", "usage": LARGE}, True, ""),
        ("idle", {"phase": "idle", "usage": LARGE, "phase_seconds": 1799}, True, ""),
        ("idle", {"phase": "idle", "usage": LARGE, "phase_seconds": 1800}, False, "30 minutes"),
        (None, {"phase_seconds": 3599}, True, ""),
        (None, {"phase_seconds": 3600}, False, "60 minutes"),
        (None, {"usage": Usage(cache_read=9_000)}, False, "less than $0.05"),
        (None, {"usage": Usage(cache_read=10_000)}, True, ""),
        (None, {"usage": Usage(input=200_000, cache_read=100_000)}, False, "less than $0.05"),
        (None, {"model": evolve(OPUS, cost=ModelCost())}, False, "expected savings are $0.00"),
        (None, {"has_thinking_budget": True}, False, "budget"),
    ],
)
def test_a_refresh_is_planned_only_where_it_pays(mode, changes, warm, reason):
    found = plan(mode, **changes)

    assert found.warm is warm
    assert reason in found.reason
    assert bool(found.reason) is not warm

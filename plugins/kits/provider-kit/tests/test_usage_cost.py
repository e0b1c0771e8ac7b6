"""Tokens become dollars."""

from __future__ import annotations

import pytest

from pi_hookspecs import Model, ModelCost, PriceTier, Usage
from pi_provider_kit import calculate_cost, with_cost

TIERS = (
    PriceTier(input_tokens_above=400_000, input=20, output=60, cache_read=2, cache_write=25),
    PriceTier(input_tokens_above=200_000, input=10, output=30, cache_read=1, cache_write=12),
)
PRICES = ModelCost(input=5, output=25, cache_read=0.5, cache_write=6.25, tiers=TIERS)
MODEL = Model(id="m", name="M", api="a", provider="p", cost=PRICES)


def test_each_class_has_its_price():
    cost = calculate_cost(MODEL, Usage(input=1000, output=2000, cache_read=100_000, cache_write=4000))

    assert (cost.input, cost.output, cost.cache_read, cost.cache_write) == (0.005, 0.05, 0.05, 0.025)
    assert cost.total == pytest.approx(0.13)


def test_a_long_cache_write_costs_twice_the_input():
    cost = calculate_cost(MODEL, Usage(cache_write=3000, cache_write_1h=1000))

    assert cost.cache_write == pytest.approx((2000 * 6.25 + 1000 * 10) / 1e6)


@pytest.mark.parametrize(("tokens", "rate"), [(200_000, 5), (200_001, 10), (400_000, 10), (400_001, 20)])
def test_all_input_chooses_the_tier_for_the_whole_request(tokens, rate):
    cost = calculate_cost(MODEL, Usage(input=1000, cache_read=tokens - 3000, cache_write=2000))

    assert cost.input == pytest.approx(1000 * rate / 1e6)


def test_what_the_provider_bills_replaces_the_estimate():
    usage = with_cost(MODEL, Usage(input=1000, output=10), billed=0.5)

    assert (usage.cost.total, usage.cost.total_from_provider, usage.cost.input) == (0.5, True, 0.005)


def test_the_total_of_tokens_is_summed_where_the_api_gives_none():
    assert with_cost(MODEL, Usage(input=1, output=2, cache_read=3, cache_write=4)).total_tokens == 10
    assert with_cost(MODEL, Usage(input=1, total_tokens=7)).total_tokens == 7

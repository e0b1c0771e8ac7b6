"""Cost of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_hookspecs.messages import Cost

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs.messages import Usage
    from pi_hookspecs.models import Model, ModelCost, PriceTier

__all__ = ["billed_dollars", "calculate_cost", "with_cost"]

_PER = 1_000_000
"""Prices are per so many tokens."""

_LONG_WRITE = 2
"""Price of a cache write with a lifetime of one hour, as a multiple of the input rate."""


_MOST_DOLLARS = 10**9

_TICK = 1e-10
"""US dollars of xAI's unit of cost."""


def calculate_cost(model: Model, usage: Usage) -> Cost:
    """Return the US dollars that the tokens cost by the catalogue's prices.

    The price tier depends on all input tokens, including cached ones, and applies to the whole request.
    """
    rates = _rates(model.cost, usage.input + usage.cache_read + usage.cache_write)
    long_write = min(usage.cache_write_1h or 0, usage.cache_write)
    input_cost = usage.input * rates.input / _PER
    output_cost = usage.output * rates.output / _PER
    read_cost = usage.cache_read * rates.cache_read / _PER
    write_cost = ((usage.cache_write - long_write) * rates.cache_write + long_write * _LONG_WRITE * rates.input) / _PER
    return Cost(
        input=input_cost,
        output=output_cost,
        cache_read=read_cost,
        cache_write=write_cost,
        total=input_cost + output_cost + read_cost + write_cost,
    )


def billed_dollars(usage: Mapping[str, Any]) -> float | None:
    """Return the US dollars that the host itself bills for an answer, None if it reports none.

    OpenRouter and Vercel have ``cost``, and what the user's own key paid beside it; Perplexity has an object with a
    total, DeepInfra an estimate, xAI ticks.
    """
    cost = usage.get("cost")
    if isinstance(cost, dict):
        cost = cost.get("total_cost")
    if (dollars := _dollars(cost)) is not None:
        details = usage.get("cost_details")
        own = _dollars(details.get("upstream_inference_cost")) if isinstance(details, dict) else None
        return dollars + own if own and usage.get("is_byok") is True else dollars
    ticks = _dollars(usage.get("cost_in_usd_ticks"), _MOST_DOLLARS / _TICK)
    return _dollars(usage.get("estimated_cost")) if ticks is None else ticks * _TICK


def _dollars(billed: Any, most: float = _MOST_DOLLARS) -> float | None:
    known = isinstance(billed, int | float) and not isinstance(billed, bool) and 0 <= billed < most
    return float(billed) if known else None


def with_cost(
    model: Model, usage: Usage, billed: float | None = None, *, images: int = 0, factor: float = 1.0
) -> Usage:
    """Return the usage with its cost, and with ``total_tokens`` where the API gave none.

    Args:
        model: The model, for its prices.
        usage: The tokens.
        billed: US dollars that the provider itself reports; they replace the estimated total.
        images: The images in the answer, for models with a price per image.
        factor: What the service tier that answered costs, as a multiple of the model's prices.
    """
    cost = calculate_cost(model, usage)
    if factor != 1.0:
        cost = Cost(
            input=cost.input * factor,
            output=cost.output * factor,
            cache_read=cost.cache_read * factor,
            cache_write=cost.cache_write * factor,
            total=cost.total * factor,
        )
    if images and model.cost.image:
        drawn = images * model.cost.image
        cost = evolve(cost, output=cost.output + drawn, total=cost.total + drawn)
    if billed is not None:
        cost = evolve(cost, total=billed, total_from_provider=True)
    tokens = usage.total_tokens or usage.input + usage.output + usage.cache_read + usage.cache_write
    return evolve(usage, cost=cost, total_tokens=tokens)


def _rates(cost: ModelCost, input_tokens: int) -> ModelCost | PriceTier:
    tiers = [tier for tier in cost.tiers if input_tokens > tier.input_tokens_above]
    return max(tiers, key=lambda tier: tier.input_tokens_above, default=cost)

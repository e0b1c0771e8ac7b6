"""Cost of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from pi_hookspecs.messages import Cost

if TYPE_CHECKING:
    from pi_hookspecs.messages import Usage
    from pi_hookspecs.models import Model, ModelCost, PriceTier

__all__ = ["calculate_cost", "with_cost"]

_PER = 1_000_000
"""Prices are per so many tokens."""

_LONG_WRITE = 2
"""Price of a cache write with a lifetime of one hour, as a multiple of the input rate."""


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

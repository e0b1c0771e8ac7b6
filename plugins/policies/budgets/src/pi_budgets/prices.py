"""The most that a request can cost, by its model's prices."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_hookspecs import Model

__all__ = ["has_prices", "most"]

_MILLION = 1_000_000


def has_prices(model: Model) -> bool:
    """Return whether any price of a model is known."""
    cost = model.cost
    return any((cost.input, cost.output, cost.cache_read, cost.cache_write, cost.image, *cost.tiers))


def most(model: Model, input_tokens: int) -> dict[str, float]:
    """Return the tokens and dollars of a request whose answer has the maximum length.

    Args:
        model: The model that is asked.
        input_tokens: Estimated number of input tokens.
    """
    rates = [tier for tier in model.cost.tiers if input_tokens > tier.input_tokens_above]
    rate = max(rates, key=lambda tier: tier.input_tokens_above) if rates else model.cost
    dollars = (input_tokens * max(rate.input, rate.cache_write) + model.max_tokens * rate.output) / _MILLION
    return {"tokens": input_tokens + model.max_tokens, "dollars": dollars}

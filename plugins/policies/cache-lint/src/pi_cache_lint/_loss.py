"""What a break costs: the tokens that the cache should have had, at the price of input less that of cached input."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_hookspecs import Model, Usage

__all__ = ["CENT", "NOTABLE_TOKENS", "dollars_of", "missed_tokens"]

CENT = 0.01
"""Dollars below which nothing is reported or stored."""

NOTABLE_TOKENS = 1024
"""Fewer missed tokens are no eviction: providers cache whole blocks, and nothing shorter than this."""


def missed_tokens(before: Usage, now: Usage, *, explicit: bool) -> int:
    """Return how many tokens the cache should have had and had not.

    Args:
        before: Usage of the request before, whose prompt is what the cache should have.
        now: Usage of this request.
        explicit: Whether only what was marked is cached, not the whole prompt.
    """
    cached = before.cache_read + before.cache_write
    if not explicit or not cached:
        cached += before.input
    sent = now.input + now.cache_read + now.cache_write
    return max(0, min(cached, sent) - now.cache_read)


def dollars_of(tokens: int, model: Model) -> float:
    """Return what missed tokens cost more than cached ones; 0.0 where the model has no price for cached input."""
    price = model.cost
    return max(0.0, tokens * (price.input - price.cache_read) / 1e6) if price.cache_read > 0 else 0.0

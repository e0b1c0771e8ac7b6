"""What a break costs: the tokens that should have been cached, at the price of input minus that of cached input."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_hookspecs import Model, Usage

__all__ = ["CENT", "NOTABLE_TOKENS", "dollars_of", "missed_tokens"]

CENT = 0.01
"""Dollars below which nothing is reported or stored."""

NOTABLE_TOKENS = 1024
"""Fewer missed tokens do not count as an eviction: providers cache whole blocks, and nothing shorter than this."""


def missed_tokens(before: Usage, now: Usage, *, explicit: bool) -> int:
    """Return how many tokens should have been read from the cache but were not.

    Args:
        before: Usage of the previous request, whose prompt should be cached.
        now: Usage of this request.
        explicit: Whether only marked parts are cached, not the whole prompt.
    """
    cached = before.cache_read + before.cache_write
    if not explicit or not cached:
        cached += before.input
    sent = now.input + now.cache_read + now.cache_write
    return max(0, min(cached, sent) - now.cache_read)


def dollars_of(tokens: int, model: Model) -> float:
    """Return the extra cost of missed tokens; 0.0 if the model has no price for cached input."""
    price = model.cost
    return max(0.0, tokens * (price.input - price.cache_read) / 1e6) if price.cache_read > 0 else 0.0

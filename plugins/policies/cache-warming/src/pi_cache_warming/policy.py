"""Decides whether sending a request again costs less than reading its prompt without the provider's cache.

A request that only reads from the cache costs a tenth of one that misses it, but a refresh is for nothing if there is
no next request: in a run there always is one, while pi waits for the user there may be none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_cache_warming.settings import MODE
from pi_hookspecs import CacheWarmingPlan, Usage

if TYPE_CHECKING:
    from pi_hookspecs import CachedPrompt, PiContext

__all__ = ["Savings", "refresh_after"]

SHARE, MARGIN = 0.9, 10.0
"""A prompt is refreshed after this share of its lifetime, and at least so many seconds before its end."""

WORTH = 0.05
"""Expected savings, in dollars, from which a prompt is refreshed."""

NEXT_PROMPT = 0.15
"""Probability that the user sends the next prompt within one more lifetime."""

LONGEST = {"run": 3600.0, "idle": 1800.0}
"""Seconds of a phase after which a prompt is no longer refreshed."""


class Savings:
    """Refreshes where the expected savings are at least five cents.

    The setting ``cacheWarming`` is ``off``, ``streaming`` (while a prompt is being answered), or ``idle`` (also while
    pi waits for the next prompt).
    """

    def plan_cache_warming(self, prompt: CachedPrompt, ctx: PiContext) -> CacheWarmingPlan:
        """Return when to refresh the prompt, or why not."""
        mode = MODE.read(ctx.settings)
        if mode == "off":
            return CacheWarmingPlan(warm=False, reason="the setting cacheWarming is off")
        if prompt.phase == "idle" and mode != "idle":
            return CacheWarmingPlan(warm=False, reason="nothing is running; the setting cacheWarming is not idle")
        if prompt.has_thinking_budget:
            return CacheWarmingPlan(
                warm=False,
                reason=f"{prompt.model.id} has a thinking budget, for which an answer of one token has no room",
            )
        miss, refresh = miss_cost(prompt), refresh_cost(prompt)
        probability = NEXT_PROMPT if prompt.phase == "idle" else 1.0
        savings = miss * probability - refresh
        reason = ""
        if prompt.phase_seconds >= LONGEST[prompt.phase]:
            reason = f"it has been kept for {LONGEST[prompt.phase] / 60:.0f} minutes"
        elif savings < WORTH:
            reason = f"expected savings are ${max(savings, 0):.2f}, less than ${WORTH:.2f}"
        return CacheWarmingPlan(
            warm=not reason,
            after_seconds=refresh_after(prompt.lifetime),
            reason=reason,
            probability=probability,
            miss_cost=miss,
            refresh_cost=refresh,
            savings=savings,
        )


def refresh_after(lifetime: float) -> float:
    """Return after how many seconds a prompt is refreshed: at 90 % of its lifetime, ten seconds before its end."""
    return max(min(SHARE * lifetime, lifetime - MARGIN), 0.0)


def miss_cost(prompt: CachedPrompt) -> float:
    """Return what the next request costs more, in dollars, if the cached part of the prompt is written again."""
    from pi_provider_kit.usage import calculate_cost

    cached = prompt.usage.cache_read + prompt.usage.cache_write
    written = Usage(cache_write=cached, cache_write_1h=cached if prompt.retention == "long" else None)
    return calculate_cost(prompt.model, written).total - calculate_cost(prompt.model, Usage(cache_read=cached)).total


def refresh_cost(prompt: CachedPrompt) -> float:
    """Return what sending the request again costs, in dollars, for one token of output."""
    from pi_provider_kit.usage import calculate_cost

    usage = prompt.usage
    again = Usage(input=usage.input, cache_read=usage.cache_read + usage.cache_write, output=1)
    return calculate_cost(prompt.model, again).total

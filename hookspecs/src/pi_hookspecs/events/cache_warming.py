"""The event before a prompt is kept in a provider's cache."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from pi_hookspecs.service_values import CachedPrompt, CacheWarmingPlan

__all__ = ["CacheWarmingDecisionEvent", "CacheWarmingDecisionResult"]


@frozen(kw_only=True, eq=False, repr=False)
class CacheWarmingDecisionEvent(ReprMixin):
    """The last request can be sent again, so that the provider's cache keeps its prompt.

    Attributes:
        prompt: The cached prompt.
        plan: The policy's decision, with costs and reason.
    """

    type: ClassVar[Literal["cache_warming_decision"]] = "cache_warming_decision"
    prompt: CachedPrompt
    plan: CacheWarmingPlan


@frozen(kw_only=True, eq=False, repr=False)
class CacheWarmingDecisionResult(Value):
    """Whether to send the request (``warm``), which replaces the policy's decision, and the reason, for the user."""

    warm: bool
    reason: str | None = None

    def problem(self, event: CacheWarmingDecisionEvent) -> str | None:
        """Return what is wrong with the answer; None if nothing is."""
        del event
        warm: object = self.warm
        return None if isinstance(warm, bool) else f"returned warm={warm!r:.60}, which is neither True nor False"

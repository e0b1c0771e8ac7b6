"""The notices of ``showCacheMissNotices``: missed caches, the cost of summaries, and repeated requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_cache_lint.loss import NOTABLE_TOKENS, dollars_of

if TYPE_CHECKING:
    from pi_cache_lint.culprit import Culprit
    from pi_hookspecs import ModelUsageEvent, PiContext

__all__ = ["SETTING", "RequestNotices", "notify_miss"]

SETTING = "showCacheMissNotices"

_PURPOSES = {"compaction": "Compaction", "branch_summary": "Branch summary", "cache_warming": "Keeping the cache warm"}
_KINDS = {"avoidable": "changed", "expected": "expected"}
_UNCHANGED = {"provider": "the provider dropped the prompt", "lifetime": "its lifetime has passed"}
"""What a miss without a change is due to, by the link of its culprit."""
_LONGEST = 120
"""Characters of an error that is quoted."""


class RequestNotices:
    """Notifies of what requests cost outside of the conversation, and of those that succeeded when repeated."""

    def __init__(self) -> None:
        self._errors: dict[tuple[str, str | None], str] = {}

    def look(self, event: ModelUsageEvent, ctx: PiContext) -> None:
        """Look at a request that has been answered."""
        purpose = event.purpose, event.plugin
        if event.error is not None:
            self._errors[purpose] = " ".join(event.error.split())[:_LONGEST]
            return
        error = self._errors.pop(purpose, None)
        if error is not None and event.attempt > 1:
            ctx.ui.notify(f"{event.model.reference} answered at attempt {event.attempt}, after: {error}")
        what = _PURPOSES.get(event.purpose)
        if what is not None and event.usage.total_tokens:
            ctx.ui.notify(f"{what}: {event.usage.total_tokens:,} tokens billed{_price(event.usage.cost.total)}")


def notify_miss(culprit: Culprit, kind: str, missed: int, event: ModelUsageEvent, ctx: PiContext) -> None:
    """Notify of a miss of the provider's cache that is large enough."""
    if missed <= NOTABLE_TOKENS:
        return
    link = f"{culprit.link}: {culprit.reason}" if culprit.reason else culprit.link
    why = _UNCHANGED.get(culprit.link) or f"{_KINDS.get(kind, kind)}, {link}"
    cost = _price(dollars_of(missed, event.model))
    ctx.ui.notify(f"Cache miss ({why}): {missed:,} tokens were read again{cost}")


def _price(dollars: float) -> str:
    return f" (~${dollars:.2f})" if dollars >= 0.005 else ""  # noqa: PLR2004 - what is rounded to a cent

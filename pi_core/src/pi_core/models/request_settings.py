"""The settings that apply to every request to a model: time limits, retries, transport, thinking budgets."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pi_core.settings import Settings

__all__ = ["RequestSettings"]

IDLE_TIMEOUT_MS = 300_000
"""Default of the setting ``httpIdleTimeoutMs``, the maximum time without data from a server."""
LONGEST_RETRY_DELAY_MS = 60_000
"""Default of the setting ``retry.provider.maxRetryDelayMs``."""


class RequestSettings(NamedTuple):
    """The settings of requests, with times in milliseconds. For None the provider's own default applies."""

    timeout_ms: int | None
    progress_timeout_ms: int | None
    max_retries: int | None
    max_retry_delay_ms: int | None
    transport: str | None
    thinking_budgets: dict[str, int] | None

    @classmethod
    def of(cls, settings: Settings) -> RequestSettings:
        """Return the values of the settings."""
        read = settings.get_number
        idle = read("retry.provider.timeoutMs", read("httpIdleTimeoutMs", IDLE_TIMEOUT_MS, minimum=0), minimum=0)
        return cls(
            timeout_ms=_whole(idle),
            progress_timeout_ms=_whole(read("httpProgressTimeoutMs", None, minimum=0)),
            max_retries=_whole(read("retry.provider.maxRetries", 0, minimum=0)),
            max_retry_delay_ms=_whole(read("retry.provider.maxRetryDelayMs", LONGEST_RETRY_DELAY_MS, minimum=0)),
            transport=settings.get_str("transport", None),
            thinking_budgets=_thinking_budgets(settings),
        )


def _thinking_budgets(settings: Settings) -> dict[str, int] | None:
    budgets = settings.get_object("thinkingBudgets")
    found = {level: settings.get_number(("thinkingBudgets", level), None, minimum=0) for level in budgets}
    return {level: int(tokens) for level, tokens in found.items() if tokens is not None} or None


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)

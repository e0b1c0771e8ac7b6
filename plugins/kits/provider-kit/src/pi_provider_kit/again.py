"""Retries of requests inside the transport, before a request counts as failed.

For users who set ``retry.provider.maxRetries``; only unanswered requests are retried, so no event comes twice.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pi_provider_kit.failure import HttpFailed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pi_hookspecs.provider import StreamOptions
    from pi_provider_kit.abort import AbortWatch

__all__ = ["with_retries"]

_PASSES = ("connect", "dns", "dropped", "refused", "timeout")
"""Kinds of transient network failures."""

_FIRST_PAUSE_MS = 500
_LONGEST_PAUSE_MS = 8000
"""Delays of the vendors' own clients, used where the server does not ask for a longer one."""


async def with_retries(
    make: Callable[[], Awaitable[None]], failure: Exception, options: StreamOptions, watch: AbortWatch
) -> None:
    """Retry a request up to ``options.max_retries`` times, while its failure is transient.

    Raises:
        HttpFailed: Every attempt failed; the failure is that of the last.
        Aborted: ``options.signal`` was set, also while waiting.
    """
    for attempt in range(options.max_retries or 0):
        pause = _pause_ms(failure, attempt, options.max_retry_delay_ms)
        if pause is None:
            break
        await watch(asyncio.sleep(pause / 1000))
        try:
            return await make()
        except HttpFailed as another:
            failure = another
    raise failure


def _pause_ms(failure: Exception, attempt: int, longest_ms: int | None) -> int | None:
    """Return the delay; None if a retry does not help, or the server asks for more than the user's limit."""
    if not isinstance(failure, HttpFailed):
        return None
    if failure.kind not in _PASSES:
        from pi_hookspecs.failures import ACTIONS, kind_of_failure

        if failure.status is None or ACTIONS[kind_of_failure(str(failure), failure.status)] != "wait":
            return None
    asked = failure.retry_after_ms or 0
    if longest_ms and asked > longest_ms:
        return None
    return max(asked, min(_FIRST_PAUSE_MS << min(attempt, 8), _LONGEST_PAUSE_MS))

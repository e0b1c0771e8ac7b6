"""Requests that the transport makes again by itself, before they count as failed.

For users who set ``retry.provider.maxRetries``; only what has not been answered is asked again, so nothing comes twice.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pi_provider_kit._failure import HttpFailed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pi_hookspecs.provider import StreamOptions
    from pi_provider_kit._abort import AbortWatch

__all__ = ["made_again"]

_PASSES = ("connect", "dns", "dropped", "refused", "timeout")
"""Kinds of failures of the network that may be gone a moment later."""

_STATUSES = (408, 409, 429)

_FIRST_PAUSE_MS = 500
_LONGEST_PAUSE_MS = 8000
"""As the vendors' own clients wait, where the server does not ask for more."""


async def made_again(
    make: Callable[[], Awaitable[None]], failure: Exception, options: StreamOptions, watch: AbortWatch
) -> None:
    """Make a request again, as often as ``options.max_retries`` allows and as long as that may help.

    Raises:
        HttpFailed: It failed each time; the failure is that of the last.
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
    """Return how long to wait; None where waiting does not help, or the server asks for more than the user has."""
    if not isinstance(failure, HttpFailed):
        return None
    status = failure.status or 0
    if failure.kind not in _PASSES and status not in _STATUSES and status < 500:  # noqa: PLR2004 - RFC 9110, 15.6
        return None
    asked = failure.retry_after_ms or 0
    if longest_ms and asked > longest_ms:
        return None
    return max(asked, min(_FIRST_PAUSE_MS << min(attempt, 8), _LONGEST_PAUSE_MS))

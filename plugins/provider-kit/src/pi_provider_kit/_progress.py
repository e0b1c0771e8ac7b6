"""An answer has to get further: bytes alone are no progress.

A server that sends comments or pings, or one byte at a time, is never silent, so that a limit on silence would keep its
answer for ever.
"""

from __future__ import annotations

from math import inf
from time import monotonic

__all__ = ["Progress"]


class Progress:
    """The time since an answer last got further.

    It is looked at when something has come, so that it costs no timer. What does not come at all is the business of
    ``Timeouts.idle``.

    Args:
        seconds: How long it may take; None is no limit.
    """

    __slots__ = ("_last", "_seconds")

    def __init__(self, seconds: float | None) -> None:
        self._seconds = inf if seconds is None else seconds
        self._last = monotonic()

    def note(self, *, advanced: bool) -> None:
        """Take note of something received, and whether it said anything.

        Raises:
            HttpFailed: It did not, and the last that did is too long ago (kind ``stuck``).
        """
        now = monotonic()
        if advanced:
            self._last = now
        elif now - self._last > self._seconds:
            from pi_provider_kit._failure import stuck_failure

            raise stuck_failure(self._seconds)

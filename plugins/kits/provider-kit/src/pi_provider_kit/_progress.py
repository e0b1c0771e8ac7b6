"""An answer has to get further: bytes alone are no progress.

A server that sends comments or pings, or one byte at a time, is never silent, so that a limit on silence would keep its
answer for ever.
"""

from __future__ import annotations

from math import inf
from time import monotonic

__all__ = ["Progress"]


class Progress:
    """Ends an answer in which for too long everything that came said nothing.

    It is called when something has come, so that it costs no timer, and looks at the clock only where that said
    nothing. What does not come at all is the business of ``Timeouts.idle``.

    Attributes:
        since: When the first thing came that said nothing; None once something did.

    Args:
        seconds: How long that may take; None is no limit.
    """

    __slots__ = ("_seconds", "since")

    def __init__(self, seconds: float | None) -> None:
        self._seconds = inf if seconds is None else seconds
        self.since: float | None = None

    def note(self, *, advanced: bool) -> None:
        """Take note of something received, and whether it said anything.

        Raises:
            HttpFailed: It did not, and nothing else has for too long (kind ``stuck``).
        """
        if advanced:
            self.since = None
        elif self.since is None:
            self.since = monotonic()
        elif monotonic() - self.since > self._seconds:
            from pi_provider_kit._failure import stuck_failure

            raise stuck_failure(self._seconds)

"""Progress timeout of an answer: bytes without content are not progress.

A server that sends comments or pings, or one byte at a time, is never silent, so that an idle timeout
would never fire.
"""

from __future__ import annotations

from math import inf
from time import monotonic

__all__ = ["Progress"]


class Progress:
    """Ends an answer that received nothing but empty events for too long.

    It is called on each read, so that it needs no timer, and reads the clock only if the read had no content. Silence
    is handled by ``Timeouts.idle``.

    Attributes:
        since: Time of the first read without content; None after a read with content.

    Args:
        seconds: The timeout; None is no limit.
    """

    __slots__ = ("_seconds", "since")

    def __init__(self, seconds: float | None) -> None:
        self._seconds = inf if seconds is None else seconds
        self.since: float | None = None

    def note(self, *, advanced: bool) -> None:
        """Record a read, and whether it had content.

        Raises:
            HttpFailed: There was no content for too long (kind ``stuck``).
        """
        if advanced:
            self.since = None
        elif self.since is None:
            self.since = monotonic()
        elif monotonic() - self.since > self._seconds:
            from pi_provider_kit.failure import stuck_failure

            raise stuck_failure(self._seconds)

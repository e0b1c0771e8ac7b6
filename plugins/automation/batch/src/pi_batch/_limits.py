"""What the running tasks share: the cost so far, and the pace at which a provider takes new ones."""

from __future__ import annotations

import asyncio
import time

from attrs import define, field

__all__ = ["Limits"]

_UNLIMITED = 50.0  # starts per second from which on nothing is held back
_SLOWEST = 0.05


@define
class _Bucket:
    """Holds at most one token; a start takes it."""

    rate: float = _UNLIMITED
    next_start: float = 0.0


@define(eq=False)
class Limits:
    """The budget of all tasks, and a token bucket for each provider.

    Attributes:
        max_cost: Dollars; None without a limit.
        spent: Dollars so far, those of running tasks included.
    """

    max_cost: float | None = None
    spent: float = 0.0
    _buckets: dict[str, _Bucket] = field(factory=dict)

    @property
    def exhausted(self) -> bool:
        """Whether nothing more may be spent."""
        return self.max_cost is not None and self.spent >= self.max_cost

    async def wait(self, provider: str) -> None:
        """Wait until a provider takes a new task."""
        bucket = self._buckets.get(provider)
        if bucket is None:
            return
        start = max(time.monotonic(), bucket.next_start)
        bucket.next_start = start + (1 / bucket.rate if bucket.rate < _UNLIMITED else 0.0)
        await asyncio.sleep(max(0.0, start - time.monotonic()))

    def delayed(self, provider: str, seconds: float) -> None:
        """Take note that a provider asked a task to wait: new ones wait as long, and begin slowly."""
        bucket = self._buckets.setdefault(provider, _Bucket())
        bucket.next_start = max(bucket.next_start, time.monotonic() + seconds)
        bucket.rate = max(_SLOWEST, min(bucket.rate / 2, 1 / max(seconds, 1 / _UNLIMITED)))

    def succeeded(self, provider: str) -> None:
        """Take note that a task was completed: the provider may be asked faster."""
        if provider in self._buckets:
            bucket = self._buckets[provider]
            bucket.rate *= 2
            if bucket.rate >= _UNLIMITED:
                del self._buckets[provider]

"""Limits that running tasks share: the total cost, and the rate at which each provider accepts new tasks."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol

from attrs import define, field

__all__ = ["Ledger", "Limits", "LocalLimits", "Pace"]

_UNLIMITED = 50.0  # starts per second from which on starts are no longer delayed
_SLOWEST = 0.05


class Limits(Protocol):
    """The shared limits as a task uses them, independent of where the task runs."""

    async def spend(self, dollars: float, /) -> None:
        """Record the cost of a request."""
        ...

    async def spent(self) -> float:
        """Return the US dollars spent so far, including running tasks."""
        ...

    async def exhausted(self) -> bool:
        """Return whether the budget is used up."""
        ...

    async def wait(self, provider: str, /) -> None:
        """Wait until a provider accepts a new task."""
        ...

    async def delayed(self, provider: str, seconds: float, /) -> None:
        """Record that a provider asked a task to wait."""
        ...

    async def succeeded(self, provider: str, /) -> None:
        """Record that a task was completed."""
        ...


@define(eq=False)
class Ledger:
    """The budget of all tasks.

    Attributes:
        max_cost: The limit in US dollars; None if there is no limit.
        spent: The US dollars spent so far.
    """

    max_cost: float | None = None
    spent: float = 0.0

    def add(self, dollars: float) -> None:
        """Record the cost of a request."""
        self.spent += dollars

    def total(self) -> float:
        """Return the US dollars spent so far."""
        return self.spent

    def is_used_up(self) -> bool:
        """Return whether the budget is used up."""
        return self.max_cost is not None and self.spent >= self.max_cost


@define
class _Bucket:
    """A token bucket that holds at most one token; starting a task takes the token."""

    rate: float = _UNLIMITED
    next_start: float = 0.0


@define(eq=False)
class Pace:
    """Limits task starts with a token bucket for each provider that asked a task to wait."""

    _buckets: dict[str, _Bucket] = field(factory=dict)

    async def wait(self, provider: str) -> None:
        """Wait until a provider accepts a new task."""
        bucket = self._buckets.get(provider)
        if bucket is None:
            return
        start = max(time.monotonic(), bucket.next_start)
        bucket.next_start = start + (1 / bucket.rate if bucket.rate < _UNLIMITED else 0.0)
        await asyncio.sleep(max(0.0, start - time.monotonic()))

    def is_delaying(self) -> bool:
        """Return whether a new task may have to wait."""
        return bool(self._buckets)

    def delayed(self, provider: str, seconds: float) -> None:
        """Record that a provider asked a task to wait: new tasks wait as long, and then start at a lower rate."""
        bucket = self._buckets.setdefault(provider, _Bucket())
        bucket.next_start = max(bucket.next_start, time.monotonic() + seconds)
        bucket.rate = max(_SLOWEST, min(bucket.rate / 2, 1 / max(seconds, 1 / _UNLIMITED)))

    def succeeded(self, provider: str) -> None:
        """Record that a task was completed: the rate of the provider is doubled."""
        if provider in self._buckets:
            bucket = self._buckets[provider]
            bucket.rate *= 2
            if bucket.rate >= _UNLIMITED:
                del self._buckets[provider]


@define(eq=False)
class LocalLimits:
    """The limits for tasks that run in this process."""

    ledger: Ledger = field(factory=Ledger)
    pace: Pace = field(factory=Pace)

    async def spend(self, dollars: float, /) -> None:
        """Record the cost of a request."""
        self.ledger.add(dollars)

    async def spent(self) -> float:
        """Return the US dollars spent so far, including running tasks."""
        return self.ledger.total()

    async def exhausted(self) -> bool:
        """Return whether the budget is used up."""
        return self.ledger.is_used_up()

    async def wait(self, provider: str, /) -> None:
        """Wait until a provider accepts a new task."""
        await self.pace.wait(provider)

    async def delayed(self, provider: str, seconds: float, /) -> None:
        """Record that a provider asked a task to wait."""
        self.pace.delayed(provider, seconds)

    async def succeeded(self, provider: str, /) -> None:
        """Record that a task was completed."""
        self.pace.succeeded(provider)

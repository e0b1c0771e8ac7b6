"""Cancellation by an abort, distinguished from cancellation by the caller."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Self

from pi_hookspecs import Aborted

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from pi_hookspecs import AbortSignal

__all__ = ["Grace", "cancelled_from_outside"]


class Grace:
    """A block that, after an abort, has a grace period and is then cancelled repeatedly until it ends.

    ``asyncio.timeout`` cancels only once, and a bare ``except`` in a provider would swallow that. If the block returns
    or raises by itself, its result or exception is kept; only a cancellation by this class leaves the block as
    ``Aborted``.

    Args:
        signal: The run's abort signal.
        seconds: The grace period, and the time between two cancellations.
    """

    def __init__(self, signal: AbortSignal, seconds: float) -> None:
        self._signal = signal
        self._seconds = seconds
        self._cancellations = 0
        self._timer: asyncio.TimerHandle | None = None
        self._unsubscribe: Callable[[], None] = lambda: None
        self.ends_at: float | None = None
        """When the grace period ends, in the event loop's time; None before an abort."""

    def __enter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[Any] | None = asyncio.current_task()
        self._before = self._task.cancelling() if self._task is not None else 0
        self._unsubscribe = self._signal.on_abort(self._begin)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._unsubscribe()
        if self._timer is not None:
            self._timer.cancel()
        remaining = self._before
        for _ in range(self._cancellations):
            remaining = self._task.uncancel() if self._task is not None else 0
        if self._cancellations and kind is asyncio.CancelledError and remaining <= self._before:
            raise Aborted(self._signal.reason or "") from error

    def check(self) -> None:
        """Raise ``Aborted`` after the grace period; for a block that never suspends and so cannot be cancelled."""
        if self.ends_at is not None and self._loop.time() > self.ends_at:
            raise Aborted(self._signal.reason or "")

    def _begin(self) -> None:
        self.ends_at = self._loop.time() + self._seconds
        self._timer = self._loop.call_at(self.ends_at, self._cancel)

    def _cancel(self) -> None:
        if self._task is not None:
            self._cancellations += 1
            self._task.cancel()
            self._timer = self._loop.call_later(self._seconds, self._cancel)


def cancelled_from_outside() -> bool:
    """Whether the current task itself was cancelled; False if a ``CancelledError`` came from what it awaited."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0

"""Where tasks run: the protocol of engines, and the one of this machine."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from pi_batch._run import Stopped, run_one

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pi_batch._limits import Limits
    from pi_batch._record import Record
    from pi_batch._run import Setup
    from pi_batch._tasks import Task

__all__ = ["Engine", "LocalEngine"]


class Engine(Protocol):
    """Runs tasks with ``run_one``."""

    def submit(self, task: Task) -> None:
        """Take a task; it begins when there is room."""
        ...

    def as_completed(self) -> AsyncIterator[Record]:
        """Yield the record of each task as it ends; stop early where the budget is used up."""
        ...

    async def cancel(self) -> None:
        """End what runs, and begin nothing more."""
        ...


class LocalEngine:
    """Processes on this machine.

    Args:
        setup: What is the same for all tasks.
        limits: What they share.
        at_once: How many run at once.
    """

    def __init__(self, setup: Setup, limits: Limits, at_once: int) -> None:
        self._setup = setup
        self._limits = limits
        self._at_once = at_once
        self._waiting: asyncio.Queue[Task] = asyncio.Queue()
        self._records: asyncio.Queue[Record | None] = asyncio.Queue()
        self._workers: list[asyncio.Task[None]] = []

    def submit(self, task: Task) -> None:
        """Take a task."""
        self._waiting.put_nowait(task)

    async def as_completed(self) -> AsyncIterator[Record]:
        """Yield records as tasks end."""
        at_once = min(self._at_once, self._waiting.qsize())
        self._workers = [asyncio.create_task(self._work()) for _ in range(at_once)]
        running = at_once
        while running:
            record = await self._records.get()
            if record is None:
                running -= 1
            else:
                yield record
        await asyncio.gather(*self._workers)

    async def cancel(self) -> None:
        """End all tasks."""
        for each in self._workers:
            each.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)

    async def _work(self) -> None:
        """Run tasks until there are no more."""
        try:
            while not self._waiting.empty():
                self._records.put_nowait(await run_one(self._waiting.get_nowait(), self._setup, self._limits))
        except Stopped:
            while not self._waiting.empty():
                self._waiting.get_nowait()
        finally:
            self._records.put_nowait(None)

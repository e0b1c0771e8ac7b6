"""Runs tasks at once, up to a number; results come as they are completed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from pi_eval._run import run_one

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pi_eval._run import Record, Task

__all__ = ["Engine", "LocalEngine"]


class Engine(Protocol):
    """Where tasks run."""

    def submit(self, task: Task) -> None:
        """Take a task; it begins when there is room."""
        ...

    def as_completed(self) -> AsyncIterator[Record]:
        """Yield the record of each task that was submitted, in the order in which they end."""
        ...

    async def cancel(self) -> None:
        """End what runs, and begin nothing more."""
        ...


class LocalEngine:
    """Processes on this machine.

    Args:
        at_once: How many tasks run at once.
    """

    def __init__(self, at_once: int) -> None:
        self._room = asyncio.Semaphore(at_once)
        self._tasks: list[asyncio.Task[Record]] = []

    def submit(self, task: Task) -> None:
        """Take a task."""
        self._tasks.append(asyncio.create_task(self._run(task)))

    async def as_completed(self) -> AsyncIterator[Record]:
        """Yield records as tasks end."""
        for each in asyncio.as_completed(self._tasks):
            yield await each

    async def cancel(self) -> None:
        """End all tasks."""
        for each in self._tasks:
            each.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, task: Task) -> Record:
        async with self._room:
            return await run_one(task)

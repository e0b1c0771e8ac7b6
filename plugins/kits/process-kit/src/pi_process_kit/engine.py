"""Engines run tasks that wait for other programs: the protocol, and the engine for this machine."""

from __future__ import annotations

import asyncio
from inspect import isawaitable
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable

__all__ = ["Engine", "LocalEngine", "StopTasks", "run_tasks"]

Task = TypeVar("Task")
Record = TypeVar("Record")
Task_contra = TypeVar("Task_contra", contravariant=True)
Record_co = TypeVar("Record_co", covariant=True)


class StopTasks(Exception):
    """Raised by a task that returns no record; no further tasks are started."""


class Engine(Protocol[Task_contra, Record_co]):
    """Runs tasks."""

    def submit(self, task: Task_contra, /) -> None:
        """Queue a task; it starts as soon as fewer than the maximum number of tasks are running."""
        ...

    def as_completed(self) -> AsyncIterator[Record_co]:
        """Yield the record of each task when the task ends; stop early after ``StopTasks``."""
        ...

    async def cancel(self) -> None:
        """Cancel the running tasks, and start no further tasks."""
        ...


class LocalEngine(Generic[Task, Record]):
    """Runs tasks in this process; the tasks wait for programs that they start.

    Args:
        run_one: Runs one task. It must put the task's errors into the record; an exception ends ``as_completed``.
        at_once: The maximum number of tasks that run at the same time.

    Attributes:
        stopped: The exception of the task that stopped the others; None if all tasks were started.
    """

    def __init__(self, run_one: Callable[[Task], Awaitable[Record]], at_once: int) -> None:
        self._run_one = run_one
        self._at_once = at_once
        self._waiting: asyncio.Queue[Task] = asyncio.Queue()
        self._records: asyncio.Queue[Record | None] = asyncio.Queue()
        self._workers: list[asyncio.Task[None]] = []
        self.stopped: StopTasks | None = None

    def submit(self, task: Task, /) -> None:
        """Queue a task."""
        self._waiting.put_nowait(task)

    async def as_completed(self) -> AsyncIterator[Record]:
        """Yield the record of each task when the task ends."""
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
        """Cancel all tasks."""
        for each in self._workers:
            each.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)

    async def _work(self) -> None:
        """Run queued tasks until the queue is empty."""
        try:
            while not self._waiting.empty():
                self._records.put_nowait(await self._run_one(self._waiting.get_nowait()))
        except StopTasks as stop:
            self.stopped = self.stopped or stop
            while not self._waiting.empty():
                self._waiting.get_nowait()
        finally:
            self._records.put_nowait(None)


async def run_tasks(
    engine: Engine[Task, Record], tasks: Iterable[Task], on_record: Callable[[Record], object]
) -> list[Record]:
    """Run tasks, and return their records in the order in which the tasks ended; running tasks are always cancelled.

    Args:
        engine: The engine, without tasks.
        tasks: The tasks.
        on_record: Called with each record when its task ends, and awaited if it returns an awaitable.
    """
    records: list[Record] = []
    try:
        for each in tasks:
            engine.submit(each)
        async for record in engine.as_completed():
            records.append(record)
            pending = on_record(record)
            if isawaitable(pending):
                await pending
        return records
    finally:
        await engine.cancel()

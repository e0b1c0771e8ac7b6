"""A queue of submitted lines: they are started in order and stopped together.

A line is started once the previous line has been accepted: a prompt is accepted when it is answered or queued, a
command when it has finished. Texts therefore reach the model in order, and the user can keep typing during an answer.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

__all__ = ["Job", "Jobs", "Sent"]


class Sent(Protocol):
    """A submitted line."""

    @property
    def text(self) -> str:
        """The text that the user typed."""
        ...


T = TypeVar("T", bound=Sent)

_END_SECONDS = 3.0
"""Seconds that stopped jobs, and then cancelled jobs, may take to end; an answer is aborted after two seconds."""


class Job(Generic[T]):
    """The processing of one submitted line.

    Attributes:
        typed: The line.
        is_prompt: Whether the line is for the model; a prompt that the model has not seen yet can be taken back.
        accepted: Set when the next line may be started.
        taken_back: Whether the line was taken back into the input line.
        stopped: Whether the job was stopped, by the user or because pi exits.
    """

    def __init__(self, typed: T) -> None:
        self.typed = typed
        self.is_prompt = True
        self.accepted = asyncio.Event()
        self.taken_back = False
        self.stopped = False
        self.task: asyncio.Task[None] | None = None


class Jobs(Generic[T]):
    """Processes submitted lines.

    Args:
        do: Processes a line and sets ``accepted``; must not raise.
        changed: Called when a job starts or ends.
    """

    def __init__(self, do: Callable[[Job[T]], Awaitable[None]], changed: Callable[[], object]) -> None:
        self._do = do
        self._changed = changed
        self._waiting: deque[T] = deque()
        self._running: list[Job[T]] = []
        self._worker: asyncio.Task[None] | None = None

    def __bool__(self) -> bool:
        return bool(self._running or self._waiting)

    @property
    def waiting(self) -> list[str]:
        """The lines that have not been started."""
        return [typed.text for typed in self._waiting]

    def add(self, typed: T) -> None:
        """Start a line as soon as all earlier lines have been accepted."""
        self._waiting.append(typed)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.ensure_future(self._work())

    def take_back(self) -> list[str]:
        """Cancel the lines that can still be taken back and return their texts, oldest first."""
        texts = []
        for job in self._running:
            if job.is_prompt and not job.accepted.is_set() and job.task is not None:
                job.taken_back = True
                job.task.cancel()
                texts.append(job.typed.text)
        texts += self.waiting
        self._waiting.clear()
        return texts

    def cancel(self) -> None:
        """Cancel all running jobs."""
        for job in self._running:
            if job.task is not None:
                job.stopped = True
                job.task.cancel()

    async def settled(self) -> None:
        """Wait until all jobs are done."""
        while self._worker is not None and not self._worker.done():
            await asyncio.wait([self._worker, *_tasks(self._running)])
        while tasks := _tasks(self._running):
            await asyncio.wait(tasks)

    async def end(self) -> None:
        """Start no further jobs; wait for the running jobs, then cancel them and wait again, both with a time limit."""
        self._waiting.clear()
        for stop in (bool, self.cancel):
            stop()
            if tasks := _tasks(self._running):
                await asyncio.wait(tasks, timeout=_END_SECONDS)

    async def _work(self) -> None:
        while self._waiting:
            job = Job(self._waiting.popleft())
            self._running.append(job)
            job.task = asyncio.ensure_future(self._run(job))
            self._changed()
            await job.accepted.wait()

    async def _run(self, job: Job[T]) -> None:
        try:
            await self._do(job)
        finally:
            self._running.remove(job)
            job.accepted.set()
            self._changed()


def _tasks(jobs: list[Job[T]]) -> list[asyncio.Task[None]]:
    return [job.task for job in jobs if job.task is not None]

"""What was sent: begun at once and in the order in which it was sent, and stopped together.

The next line begins when the one before it was accepted: a prompt when it is answered or queued, a command when it is
done. So texts reach the model in order, and one can type on while an answer is made.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

__all__ = ["Job", "Jobs", "Sent"]


class Sent(Protocol):
    """What was sent."""

    @property
    def text(self) -> str:
        """What the user typed."""
        ...


T = TypeVar("T", bound=Sent)

_END_SECONDS = 3.0
"""How long what was stopped, and what was cancelled, may take to end: an answer is aborted after two."""


class Job(Generic[T]):
    """A line that was sent.

    Attributes:
        typed: The line.
        is_prompt: It is for the model; what the model has not seen yet can be taken back.
        accepted: Set when the next line may begin.
        taken_back: It is on the line again.
        stopped: The user, or the end of pi, has stopped it.
    """

    def __init__(self, typed: T) -> None:
        self.typed = typed
        self.is_prompt = True
        self.accepted = asyncio.Event()
        self.taken_back = False
        self.stopped = False
        self.task: asyncio.Task[None] | None = None


class Jobs(Generic[T]):
    """Does what was sent.

    Args:
        do: Does a line, sets ``accepted`` and raises nothing.
        changed: Called when something begins or ends.
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
        """What has not begun."""
        return [typed.text for typed in self._waiting]

    def add(self, typed: T) -> None:
        """Do a line as soon as those before it were accepted."""
        self._waiting.append(typed)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.ensure_future(self._work())

    def take_back(self) -> list[str]:
        """Return what can still be taken back, oldest first; it is not done any more."""
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
        """Stop everything that runs."""
        for job in self._running:
            if job.task is not None:
                job.stopped = True
                job.task.cancel()

    async def settled(self) -> None:
        """Return when everything is done."""
        while self._worker is not None and not self._worker.done():
            await asyncio.wait([self._worker, *_tasks(self._running)])
        while tasks := _tasks(self._running):
            await asyncio.wait(tasks)

    async def end(self) -> None:
        """Begin nothing any more, and return when everything has ended or been cancelled, or does not mind either."""
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

"""A session's event loop in a thread of its own, while the cell waits and does what only the cell's thread may do.

A magic is a plain function, called inside the kernel's running event loop, so it cannot run another one. The session
therefore lives in a thread. What draws, asks the user or reads the notebook's variables is called back in the thread of
the cell, which is also the one that the stop button interrupts. A cell that is awaited leaves the kernel's event loop
free meanwhile, for the messages of widgets.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

__all__ = ["CellThread"]

T = TypeVar("T")

_TICK_SECONDS = 0.2
"""Between two looks at nothing: the kernel notices the stop button only when its event loop has something to do."""


class CellThread:
    """Runs coroutines in an event loop of another thread, and functions for them in the thread that waits."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._calls: SimpleQueue[Callable[[], object]] = SimpleQueue()
        self._wake: Callable[[], object] | None = None
        self._thread = threading.Thread(target=self._loop.run_forever, name="pi", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T], interrupt: Callable[[], Awaitable[object]] | None = None) -> T:
        """Wait for work of the other thread, and execute meanwhile what it asks for.

        Args:
            work: What to run.
            interrupt: Called in the other thread on the first KeyboardInterrupt, to end the work soon; without it, or
                on a second one, the work is cancelled.

        Raises:
            KeyboardInterrupt: The user interrupted the cell; the work has ended.
        """
        running = _Work(work, self._loop, ended=lambda: self.post(_nothing))
        interrupted = handled = 0
        while True:
            # Everything is in here: an interrupt may come at any moment, also while the one before it is handled.
            try:
                while handled < interrupted:
                    handled += 1
                    running.interrupt(interrupt if handled == 1 else None)
                running.begin()
                has_ended = running.has_ended
                self._calls.get(block=not has_ended)()
            except Empty:
                break
            except KeyboardInterrupt:
                interrupted += 1
        if interrupted:
            raise KeyboardInterrupt
        return running.result()

    @property
    def is_awaited(self) -> bool:
        """Whether the cell that is running is awaited."""
        return self._wake is not None

    async def run_awaited(
        self, work: Coroutine[Any, Any, T], interrupt: Callable[[], Awaitable[object]] | None = None
    ) -> T:
        """As ``run``, without blocking the event loop of the caller; it is interrupted by being cancelled.

        Raises:
            KeyboardInterrupt: The user interrupted the cell; the work has ended.
        """
        loop, news = asyncio.get_running_loop(), asyncio.Event()
        self._wake = lambda: loop.call_soon_threadsafe(news.set)
        news.set()
        running = _Work(work, self._loop, ended=lambda: self.post(_nothing))
        running.begin()
        interrupted = 0
        try:
            while True:
                try:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(_TICK_SECONDS):
                            await news.wait()
                    news.clear()
                    has_ended = running.has_ended
                    self._call_all()
                    if has_ended:
                        break
                except asyncio.CancelledError:
                    interrupted += 1
                    running.interrupt(interrupt if interrupted == 1 else None)
        finally:
            self._wake = None
        if interrupted:
            raise KeyboardInterrupt
        return running.result()

    def _call_all(self) -> None:
        """Call what is waiting."""
        with suppress(Empty):
            while True:
                self._calls.get_nowait()()

    async def in_cell(self, function: Callable[[], T]) -> T:
        """Call a function in the waiting thread and return its result; a cell that is not running yet calls it first.

        Raises:
            asyncio.CancelledError: The user interrupted the function.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def call() -> None:
            try:
                result = function()
            except KeyboardInterrupt:
                loop.call_soon_threadsafe(done.cancel)
                raise
            except Exception as error:  # noqa: BLE001 - it belongs to the code that asked for the call
                loop.call_soon_threadsafe(_settle, done, None, error)
            else:
                loop.call_soon_threadsafe(_settle, done, result, None)

        self.post(call)
        return await done

    def post(self, function: Callable[[], object]) -> None:
        """Call a function in the waiting thread, without waiting for it."""
        self._calls.put(function)
        if (wake := self._wake) is not None:
            wake()

    def close(self) -> None:
        """Stop the event loop and its thread; a second call does nothing."""
        if self._loop.is_closed():
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _nothing() -> None:
    """Wake up the waiting thread."""


class _Work(Generic[T]):
    """A coroutine that an event loop of another thread runs.

    Args:
        coroutine: What it runs.
        loop: The event loop.
        ended: Called in the loop's thread when the coroutine has ended.
    """

    def __init__(
        self, coroutine: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop, ended: Callable[[], object]
    ) -> None:
        self._coroutine = coroutine
        self._loop = loop
        self._ended = ended
        self._tasks: list[asyncio.Task[T]] = []  # one, once the loop has started it
        self._ending: asyncio.Task[None] | None = None
        self._is_sent = False

    @property
    def has_ended(self) -> bool:
        """Whether the coroutine has ended; what it asked for was called, or waits to be called."""
        return any(task.done() for task in self._tasks)

    def begin(self) -> None:
        """Start the coroutine; it starts once, however often this is called, or cut off by a KeyboardInterrupt."""
        if not self._is_sent:
            self._loop.call_soon_threadsafe(self._started)
            self._is_sent = True

    def interrupt(self, softly: Callable[[], Awaitable[object]] | None) -> None:
        """End the coroutine soon: call the function in the loop; without one, or before it has begun, cancel it."""
        self._loop.call_soon_threadsafe(self._interrupted, softly)

    def result(self) -> T:
        """Return what the coroutine, which has ended, returned, or raise what it raised."""
        return self._tasks[0].result()

    def _interrupted(self, softly: Callable[[], Awaitable[object]] | None) -> None:
        async def end() -> None:
            if softly is not None:
                await softly()

        if softly is None or not self._tasks:
            self._started().cancel()
        else:
            self._ending = self._loop.create_task(end())

    def _started(self) -> asyncio.Task[T]:
        if not self._tasks:
            self._tasks.append(self._loop.create_task(self._coroutine))
            self._tasks[0].add_done_callback(lambda _: self._ended())
        return self._tasks[0]


def _settle(done: asyncio.Future[Any], result: object, error: Exception | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(result)
    else:
        done.set_exception(error)

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
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from concurrent.futures import Future

__all__ = ["CellThread"]

T = TypeVar("T")

_TICK_SECONDS = 0.2
"""Between two looks at nothing: the kernel notices the stop button only when its event loop has something to do."""


class CellThread:
    """Runs coroutines in an event loop of another thread, and functions for them in the thread that waits."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._calls: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
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
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        future.add_done_callback(lambda _: self.post(None))
        interrupted = 0
        while True:
            try:
                call = self._calls.get()
                if call is None:
                    break
                call()
            except KeyboardInterrupt:
                interrupted += 1
                self._interrupt(future, interrupt if interrupted == 1 else None)
        if interrupted:
            raise KeyboardInterrupt
        return future.result()

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
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        future.add_done_callback(lambda _: self.post(None))
        interrupted = 0
        try:
            while True:
                try:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(_TICK_SECONDS):
                            await news.wait()
                    news.clear()
                    if self._call_all():
                        break
                except asyncio.CancelledError:
                    interrupted += 1
                    self._interrupt(future, interrupt if interrupted == 1 else None)
        finally:
            self._wake = None
        if interrupted:
            raise KeyboardInterrupt
        return future.result()

    def _call_all(self) -> bool:
        """Call what is waiting; return whether the work has ended."""
        while True:
            try:
                call = self._calls.get_nowait()
            except Empty:
                return False
            if call is None:
                return True
            call()

    def _interrupt(self, future: Future[Any], interrupt: Callable[[], Awaitable[object]] | None) -> None:
        async def call(function: Callable[[], Awaitable[object]]) -> None:
            await function()

        if interrupt is None:
            future.cancel()
        else:
            asyncio.run_coroutine_threadsafe(call(interrupt), self._loop)

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

    def post(self, function: Callable[[], object] | None) -> None:
        """Call a function in the waiting thread, without waiting for it; None says that the work has ended."""
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


def _settle(done: asyncio.Future[Any], result: object, error: Exception | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(result)
    else:
        done.set_exception(error)

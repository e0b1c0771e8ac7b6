"""A session's event loop in a thread of its own, while the cell waits and does what only the cell's thread may do.

A magic is a plain function, called inside the kernel's running event loop, so it cannot run another one. The session
therefore lives in a thread. What draws, asks the user or reads the notebook's variables is called back in the thread of
the cell, which is also the one that the stop button interrupts.
"""

from __future__ import annotations

import asyncio
import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from concurrent.futures import Future

__all__ = ["CellThread"]

T = TypeVar("T")


class CellThread:
    """Runs coroutines in an event loop of another thread, and functions for them in the thread that waits."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._calls: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
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
        future.add_done_callback(lambda _: self._calls.put(None))
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

        self._calls.put(call)
        return await done

    def post(self, function: Callable[[], object]) -> None:
        """Call a function in the waiting thread, without waiting for it."""
        self._calls.put(function)

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

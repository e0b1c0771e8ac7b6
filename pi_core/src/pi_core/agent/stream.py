"""A queue with an end: what a producer pushes, one consumer iterates, and anybody may await the result."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["EventStream"]

E = TypeVar("E")
R = TypeVar("R")

_NO_RESULT: Any = object()


class EventStream(Generic[E, R]):
    """Events in the order they were pushed, and a result when the final one came.

    Args:
        result_of: Returns the result that an event completes the stream with, as a one-tuple; None for
            every event that does not.
    """

    def __init__(self, result_of: Callable[[E], tuple[R] | None]) -> None:
        self._result_of = result_of
        self._events: deque[E] = deque()
        self._result: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._news = asyncio.Event()
        self._broken = False
        self.producer: asyncio.Task[None] | None = None
        """The task that pushes, kept from being collected."""

    def push(self, event: E) -> None:
        """Deliver an event; after the end it is ignored."""
        if self._result.done():
            return
        self._events.append(event)
        self._news.set()
        result = self._result_of(event)
        if result is not None:
            self.end(*result)

    def end(self, result: R = _NO_RESULT) -> None:
        """End the stream; without a result, ``result()`` raises ``EOFError``. A second end changes nothing."""
        if result is _NO_RESULT:
            self._break_off(EOFError("the stream ended without a result"))
        elif not self._result.done():
            self._result.set_result(result)
            self._news.set()

    def fail(self, error: BaseException) -> None:
        """End the stream with an error, which iteration raises after the last event, and so does ``result``."""
        self._broken = self._broken or not self._result.done()
        self._break_off(error)

    async def result(self) -> R:
        """Return the stream's result, whether or not anybody iterates."""
        return await asyncio.shield(self._result)

    def __aiter__(self) -> EventStream[E, R]:
        return self

    async def __anext__(self) -> E:
        while not self._events:
            if self._result.done():
                if self._broken:
                    await self.result()
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        return self._events.popleft()

    def _break_off(self, error: BaseException) -> None:
        if not self._result.done():
            self._result.set_exception(error)
            self._result.exception()  # retrieved: nobody has to ask for the result of a stream he iterated
            self._news.set()

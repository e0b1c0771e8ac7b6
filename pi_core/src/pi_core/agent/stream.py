"""Asynchronous streams of events: one with a result for many that await it, and the end of one that is passed on."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

__all__ = ["EventStream", "closing"]

E = TypeVar("E")
R = TypeVar("R")

_NO_RESULT: Any = object()


class closing(Generic[E]):  # noqa: N801 - as ``contextlib.aclosing``, which requires ``aclose``
    """A block at whose end a stream is closed, if it is one that can be: providers may return any iterator."""

    def __init__(self, events: AsyncIterator[E]) -> None:
        self._events = events

    async def __aenter__(self) -> AsyncIterator[E]:
        return self._events

    async def __aexit__(self, *_: object) -> None:
        close = getattr(self._events, "aclose", None)
        if close is not None:
            await close()


class EventStream(Generic[E, R]):
    """Yields events in the order in which they were pushed, and has a result after the final event.

    Args:
        result_of: Returns the stream's result, as a one-tuple, for the final event, and None for every other event.
    """

    def __init__(self, result_of: Callable[[E], tuple[R] | None]) -> None:
        self._result_of = result_of
        self._events: deque[E] = deque()
        self._result: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._changed = asyncio.Event()
        self._failed = False
        self.producer: asyncio.Task[None] | None = None
        """The task that pushes; the reference keeps it from being garbage-collected."""

    def push(self, event: E) -> None:
        """Append an event; events after the end are ignored."""
        if self._result.done():
            return
        self._events.append(event)
        self._changed.set()
        result = self._result_of(event)
        if result is not None:
            self.end(*result)

    def end(self, result: R = _NO_RESULT) -> None:
        """End the stream; without a result, ``result()`` raises ``EOFError``. A second call has no effect."""
        if result is _NO_RESULT:
            self._set_error(EOFError("the stream ended without a result"))
        elif not self._result.done():
            self._result.set_result(result)
            self._changed.set()

    def fail(self, error: BaseException) -> None:
        """End the stream with an error, which both the iteration, after the last event, and ``result`` raise."""
        self._failed = self._failed or not self._result.done()
        self._set_error(error)

    async def result(self) -> R:
        """Wait for the stream's result and return it, whether or not the stream is iterated."""
        return await asyncio.shield(self._result)

    def __aiter__(self) -> EventStream[E, R]:
        return self

    async def __anext__(self) -> E:
        while not self._events:
            if self._result.done():
                if self._failed:
                    await self.result()
                raise StopAsyncIteration
            self._changed.clear()
            await self._changed.wait()
        return self._events.popleft()

    def _set_error(self, error: BaseException) -> None:
        if not self._result.done():
            self._result.set_exception(error)
            self._result.exception()  # retrieved, so that asyncio does not warn if the stream is only iterated
            self._changed.set()

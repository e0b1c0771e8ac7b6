"""Abortable waiting: every wait of a transport ends when the run is aborted."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self

from pi_hookspecs.errors import Aborted

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import TypeVar

    from pi_hookspecs.abort import AbortSignal

    T = TypeVar("T")

__all__ = ["AbortWatch"]


class AbortWatch:
    """Awaits one thing after another for a task; an abort ends the wait within one turn of the event loop.

    ```python
    with AbortWatch(options.signal) as watch:
        response = await watch(client.send(request))
        while chunk := await watch(anext(chunks, b"")):
            for event in decoder.feed(chunk):
                watch.raise_if_aborted()  # one read may contain many events
                yield event
    ```

    The abort cancels the awaited work. Work that cannot be cancelled (a call in a thread) keeps running: close its
    connection with ``signal.on_abort``.

    Args:
        signal: The run's abort signal, ``options.signal``; without one the watch only awaits.
    """

    __slots__ = ("_aborted", "_forget", "_scope", "_signal")

    def __init__(self, signal: AbortSignal | None) -> None:
        self._signal = signal
        self._aborted = False
        self._scope: asyncio.Timeout | None = None
        self._forget: Callable[[], None] | None = signal.on_abort(self._abort) if signal is not None else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __call__(self, work: Awaitable[T], seconds: float | None = None) -> T:
        """Await ``work`` and return what it returns.

        ``asyncio.timeout`` uncancels a cancellation that it caused. It must not surround a ``yield``, which is why each
        wait has its own.

        Args:
            work: The awaitable.
            seconds: Deadline; None is no limit.

        Raises:
            Aborted: The signal was set before or during the wait.
            TimeoutError: It took longer.
        """
        if self._signal is None and seconds is None:
            return await work
        try:
            async with asyncio.timeout(0 if self._aborted else seconds) as self._scope:
                return await work
        except TimeoutError:
            self.raise_if_aborted()
            raise
        finally:
            self._scope = None

    def raise_if_aborted(self) -> None:
        """Raise ``Aborted`` when the signal was set; to be called between two events of one read."""
        if self._aborted:
            raise Aborted((self._signal and self._signal.reason) or "Request was aborted")

    def close(self) -> None:
        """Unsubscribe from the signal; leaving the ``with`` block does the same."""
        if self._forget is not None:
            self._forget()
            self._forget = None

    def _abort(self) -> None:
        self._aborted = True
        if self._scope is not None:
            self._scope.reschedule(asyncio.get_running_loop().time())

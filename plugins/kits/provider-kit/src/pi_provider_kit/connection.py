"""One HTTP/1.1 connection: one request and its response at a time.

Whatever one read of the socket brought is handed on in one piece, so that a burst of small chunks costs next to nothing
per chunk.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pi_provider_kit.errors import ReadTimeout

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_provider_kit.http_answer import Answer

__all__ = ["Connection"]

_HIGH_WATER = 1_048_576
"""Buffered bytes of the body above which reading of the socket is paused."""

_DRAIN_SECONDS = 0.5
_DRAIN_BYTES = 65_536
"""Maximum bytes of an abandoned body that are drained so that the connection can be reused. A codec stops at the last
event of its API, the end of the HTTP body comes a moment later."""


class Connection(asyncio.Protocol):
    """A connection that is either in use, or idle in the pool.

    Args:
        loop: The running loop.
        on_free: Called when the answer is complete and the connection can be used again.
        on_gone: Called when it is closed, by either side.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        on_free: Callable[[Connection], object],
        on_gone: Callable[[Connection], object],
    ) -> None:
        self.used = False
        self._loop = loop
        self._on_free = on_free
        self._on_gone = on_gone
        self._answer: Answer | None = None
        self._socket: asyncio.Transport | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._closed: asyncio.Future[None] = loop.create_future()
        self._timer: asyncio.TimerHandle | None = None
        self._waiting = 0
        self._paused = False
        self._draining = False

    # Requests

    async def ask(self, request: bytes, seconds: float | None, sent: Callable[[], object] | None = None) -> Answer:
        """Send a whole request, call ``sent``, and return as soon as the answer's headers are here.

        Raises:
            ReadTimeout: The headers are not complete within ``seconds``, however often something came.
            TransportError: The connection ended, or the answer is not HTTP.
        """
        self._stop_timer()
        self._waiting = 0
        leaves = self._socket is not None and not self._socket.is_closing()
        if leaves:
            self._socket.write(request)  # type: ignore[union-attr] # one that leaves has a socket
        from pi_provider_kit.http_answer import Answer  # while the server reads the request

        self._answer = answer = Answer()
        if not leaves:
            answer.cut(None)
        elif sent is not None:
            self._notify_sent(sent)
        deadline = self._deadline(seconds)
        while not answer.ready:
            if answer.error is not None:
                self.abort()
                raise answer.error
            await self._wait(deadline)
        return answer

    @property
    def stale(self) -> bool:
        """Whether the server had closed this connection before it saw the latest request."""
        return self.used and self._answer is not None and not self._answer.status

    async def read(self, seconds: float | None) -> bytes:
        """Return all buffered bytes of the body, or wait for the next ones; ``b""`` at the end.

        Raises:
            ReadTimeout: Nothing came for ``seconds``.
            TransportError: The connection ended before the body did.
        """
        answer = self._answer
        if answer is None:
            return b""
        chunks = answer.chunks
        while not chunks:
            if answer.complete:
                return b""
            if answer.error is not None:
                raise answer.error
            await self._wait(self._deadline(seconds))
        data = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        chunks.clear()
        self._waiting = 0
        self._resume()
        return data

    def release(self) -> None:
        """Stop reading the response: the connection goes back to the pool, or is closed."""
        answer = self._answer
        if answer is None or self._draining:
            return
        if answer.error is not None or not answer.keep_alive or self._is_closing():
            self.abort()
        elif answer.complete:
            self._free()
        else:
            self._draining = True
            self._waiting = 0
            answer.chunks.clear()
            self._timer = self._loop.call_later(_DRAIN_SECONDS, self.abort)
            self._resume()

    def keep_for(self, seconds: float) -> None:
        """Close the connection unless it is used within ``seconds``."""
        self._timer = self._loop.call_later(seconds, self.abort)

    def abort(self) -> None:
        """Close now, even during a request."""
        self._stop_timer()
        if self._socket is not None:
            self._socket.abort()

    async def closed(self) -> None:
        """Return when the socket is closed."""
        await asyncio.shield(self._closed)

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._socket = transport  # type: ignore[assignment] # a stream transport, since it was made for a Protocol

    def data_received(self, data: bytes) -> None:
        """Pass data to the answer that is being read; without one, the connection is closed."""
        answer = self._answer
        if answer is None:  # no request is pending: a server that closes, or does not speak HTTP
            self.abort()
            return
        if not answer.feed(data):
            answer.keep_alive = False
            self.abort()
        self._waiting += len(data)
        if self._draining:
            self._drain(answer)
        elif self._waiting > _HIGH_WATER and not self._paused and not answer.complete:
            self._paused = True
            self._socket.pause_reading()  # type: ignore[union-attr] # it has just delivered
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the answer that is being read, with the error if there is one."""
        self._stop_timer()
        if self._answer is not None:
            self._answer.cut(exc)
        if not self._closed.done():
            self._closed.set_result(None)
        self._on_gone(self)
        self._wake()

    # Internals

    def _drain(self, answer: Answer) -> None:
        answer.chunks.clear()
        if answer.complete and answer.keep_alive:
            self._free()
        elif answer.complete or self._waiting > _DRAIN_BYTES:
            self.abort()

    def _free(self) -> None:
        self._stop_timer()
        self._resume()
        self._answer = None
        self._draining = False
        self.used = True
        self._on_free(self)

    def _is_closing(self) -> bool:
        return self._socket is None or self._socket.is_closing()

    def _resume(self) -> None:
        if self._paused and self._socket is not None:
            self._paused = False
            self._socket.resume_reading()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _notify_sent(self, sent: Callable[[], object]) -> None:
        try:
            sent()
        except BaseException:  # this response will not be read
            self.abort()
            raise

    def _deadline(self, seconds: float | None) -> float | None:
        return self._loop.time() + seconds if seconds else None

    async def _wait(self, deadline: float | None) -> None:
        """Wait for news from the parser; one timer per wait, not per chunk."""
        self._waiter = waiter = self._loop.create_future()
        timer = self._loop.call_at(deadline, _expire, waiter) if deadline is not None else None
        try:
            await waiter
        except BaseException:  # a time-out, or the waiting task is cancelled: this response will not be read
            self.abort()
            raise
        finally:
            self._waiter = None
            if timer is not None:
                timer.cancel()


def _expire(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_exception(ReadTimeout("nothing received in time"))

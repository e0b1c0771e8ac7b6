"""One HTTP/1.1 connection: one request and its response at a time.

This module alone parses HTTP, and is imported with the first request. Whatever one read of the socket brought is handed
on in one piece, so that a burst of small chunks costs next to nothing per chunk.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httptools

from pi_provider_kit._errors import ReadError, ReadTimeout, RemoteProtocolError, TransportError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Answer", "Connection"]

_HIGH_WATER = 1_048_576
"""Buffered bytes of the body above which reading of the socket is paused."""

_HEADERS_LIMIT = 262_144
"""Maximum bytes of headers."""

_DRAIN_SECONDS = 0.5
_DRAIN_BYTES = 65_536
"""Maximum bytes of an abandoned body that are drained so that the connection can be reused. A codec stops at the last
event of its API, the end of the HTTP body comes a moment later."""


class Answer:
    """A response as parsed so far. Its methods are the parser's callbacks.

    ``on_body`` is ``list.append`` itself: no Python frame per chunk of the body.
    """

    __slots__ = (
        "_header_bytes",
        "_interim",
        "bounded",
        "chunks",
        "complete",
        "error",
        "headers",
        "keep_alive",
        "on_body",
        "parser",
        "problem",
        "ready",
        "reason",
        "status",
    )

    def __init__(self) -> None:
        self.status = 0
        self.reason = b""
        self.headers: list[tuple[bytes, bytes]] = []
        self.chunks: list[bytes] = []
        self.ready = False
        """The headers are complete."""
        self.complete = False
        self.keep_alive = False
        self.bounded = False
        """The headers say where the body ends; otherwise the end of the connection does."""
        self.error: TransportError | None = None
        self.problem = ""
        self._interim = False
        self._header_bytes = 0
        self.on_body = self.chunks.append
        self.parser = httptools.HttpResponseParser(self)

    def on_message_begin(self) -> None:
        if self.complete:
            self._refuse("more data than the answer has")

    def on_status(self, reason: bytes) -> None:
        self.reason = reason

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.ready:  # a trailer
            return
        self._header_bytes += len(name) + len(value)
        if self._header_bytes > _HEADERS_LIMIT:
            self._refuse(f"more than {_HEADERS_LIMIT} bytes of headers")
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        self.status = self.parser.get_status_code()
        self._interim = 100 <= self.status < 200  # noqa: PLR2004 - RFC 9110, 15.2
        if self._interim:
            self.headers.clear()
            return
        self.ready = True
        self.keep_alive = self.parser.should_keep_alive()
        self.bounded = any(name.lower() in (b"content-length", b"transfer-encoding") for name, _ in self.headers)

    def on_message_complete(self) -> None:
        if self._interim:
            self._interim = False
        else:
            self.complete = True

    def feed(self, data: bytes) -> bool:
        """Parse received bytes; return False when the connection cannot be used any more."""
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self.error = RemoteProtocolError("the server switched to another protocol")
        except httptools.HttpParserError as error:
            if not self.complete:
                self.error = RemoteProtocolError(self.problem or f"invalid HTTP: {error}")
        else:
            return True
        return False

    def cut(self, error: Exception | None) -> None:
        """Record that the connection is closed."""
        if self.complete or self.error is not None:
            return
        if self.ready and not self.bounded and error is None:
            self.complete, self.keep_alive = True, False
        elif error is not None:
            self.error = ReadError(str(error) or type(error).__name__)
        else:
            self.error = RemoteProtocolError("the server closed the connection")

    def _refuse(self, problem: str) -> None:
        self.problem = problem
        raise ValueError(problem)


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
            TransportError: The connection ended, or the answer is no HTTP.
        """
        self._stop_timer()
        self._answer = answer = Answer()
        self._waiting = 0
        if self._socket is None or self._socket.is_closing():
            answer.cut(None)
        else:
            self._socket.write(request)
            if sent is not None:
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
        self._socket = transport  # type: ignore[assignment] # a stream transport, since it was made for a Protocol

    def data_received(self, data: bytes) -> None:
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

"""The parser of one HTTP response. It is imported when the first request has left, which does not wait for it."""

from __future__ import annotations

import httptools

from pi_provider_kit.errors import ReadError, RemoteProtocolError, TransportError

__all__ = ["Answer"]

_HEADERS_LIMIT = 262_144
"""Maximum bytes of headers."""


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
        """Refuse a second message."""
        if self.complete:
            self._refuse("more data than the answer has")

    def on_status(self, reason: bytes) -> None:
        """Keep the reason phrase."""
        self.reason = reason

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header; trailers are dropped."""
        if self.ready:  # a trailer
            return
        self._header_bytes += len(name) + len(value)
        if self._header_bytes > _HEADERS_LIMIT:
            self._refuse(f"more than {_HEADERS_LIMIT} bytes of headers")
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Keep the status, and whether the end of the body is known."""
        self.status = self.parser.get_status_code()
        self._interim = 100 <= self.status < 200  # noqa: PLR2004 - RFC 9110, 15.2
        if self._interim:
            self.headers.clear()
            return
        self.ready = True
        self.keep_alive = self.parser.should_keep_alive()
        self.bounded = any(name.lower() in (b"content-length", b"transfer-encoding") for name, _ in self.headers)

    def on_message_complete(self) -> None:
        """Mark the answer as complete, unless it is an interim one."""
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

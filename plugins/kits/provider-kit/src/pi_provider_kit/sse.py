"""Decodes the bytes of a stream to lines, and lines to server-sent events, regardless of chunk boundaries.

Nothing is decoded here: JSON is parsed from bytes. An incomplete event is kept as a list of pieces, because
concatenating each piece would copy a long event once per piece.
"""

from __future__ import annotations

from pi_hookspecs.errors import RequestFailed

__all__ = ["LineDecoder", "SseDecoder"]

_EVENT_LIMIT = 64 * 1_048_576
"""Bytes of one event or line; the connection to a server that sends more is closed."""

_ADVICE = "Send the prompt again, or choose another model with --model."

_BOM = b"\xef\xbb\xbf"


class LineDecoder:
    """Splits a stream into lines. LF, CRLF and CR end a line; a byte order mark at the beginning is dropped.

    Args:
        limit: Maximum bytes of one line.
    """

    __slots__ = ("_after_cr", "_begin", "_limit", "_size", "_tail")

    def __init__(self, limit: int = _EVENT_LIMIT) -> None:
        self._limit = limit
        self._tail: list[bytes] = []
        self._size = 0
        self._after_cr = False
        self._begin: bytes | None = b""
        """The first bytes while they may still be a byte order mark; None once that is settled."""

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that this chunk completes, without their ends.

        Raises:
            RequestFailed: A line is longer than ``limit``.
        """
        if self._begin is not None or self._after_cr or b"\r" in chunk:
            chunk = self._plain(chunk)
        lines = chunk.split(b"\n")
        rest = lines.pop()
        tail = self._tail
        if tail and lines:
            tail.append(lines[0])
            lines[0] = b"".join(tail)
            tail.clear()
            self._size = 0
        if rest:
            tail.append(rest)
            self._size += len(rest)
            if self._size > self._limit:
                message = f"The server sent more than {self._limit} bytes without the end of a line. {_ADVICE}"
                raise RequestFailed(message)
        return lines

    def close(self) -> bytes:
        """Return the bytes after the last line end, and reset the decoder."""
        rest = b"".join(self._tail)
        self.__init__(self._limit)  # type: ignore[misc] # the initial state
        return rest

    def _plain(self, chunk: bytes) -> bytes:
        """Return the chunk with every line end as LF and without a byte order mark; the slow path."""
        if self._begin is not None:
            chunk = self._begin + chunk
            if len(chunk) < len(_BOM) and _BOM.startswith(chunk):
                self._begin = chunk
                return b""
            self._begin = None
            chunk = chunk.removeprefix(_BOM)
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")
        if b"\r" in chunk:
            self._after_cr = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return chunk


class SseDecoder:
    """Decodes a byte stream to events ``(name, data)``, as specified in WHATWG HTML 9.2.6.

    The name is ``message`` where the stream gives none. Data of several lines is joined by LF. Comments and events
    without data are dropped.

    Attributes:
        last_id: The stream's last ``id``.

    Args:
        limit: Maximum bytes of one event.
    """

    __slots__ = ("_data", "_limit", "_lines", "_name", "_size", "last_id")

    def __init__(self, limit: int = _EVENT_LIMIT) -> None:
        self.last_id = ""
        self._limit = limit
        self._lines = LineDecoder(limit)
        self._data: list[bytes] = []
        self._size = 0
        self._name = b""

    def feed(self, chunk: bytes) -> list[tuple[str, bytes]]:
        """Return the events that this chunk completes.

        Raises:
            RequestFailed: An event is larger than ``limit``.
        """
        events: list[tuple[str, bytes]] = []
        data = self._data
        for line in self._lines.feed(chunk):
            if not line:
                if data:
                    events.append(self._event())
                self._name = b""
            elif line.startswith(b"data:"):
                data.append(line[6:] if line.startswith(b" ", 5) else line[5:])
                if len(data) > 1:
                    self._grow(data)
            else:
                self._field(line)
        return events

    def close(self) -> list[tuple[str, bytes]]:
        """Return the open event of a stream without a final empty line.

        An unterminated line is not part of it: it may have been cut.
        """
        self._lines.close()
        events = [self._event()] if self._data else []
        self._name = b""
        return events

    def _event(self) -> tuple[str, bytes]:
        data = self._data
        whole = data[0] if len(data) == 1 else b"\n".join(data)
        data.clear()
        self._size = 0
        return (self._name.decode("utf-8", "replace") if self._name else "message"), whole

    def _grow(self, data: list[bytes]) -> None:
        self._size = (self._size or len(data[0])) + len(data[-1]) + 1
        if self._size > self._limit:
            raise RequestFailed(f"The server sent an event of more than {self._limit} bytes. {_ADVICE}")

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"event":
            self._name = value
        elif name == b"data":  # a line that is only ``data``
            self._data.append(value)
        elif name == b"id" and b"\0" not in value:
            self.last_id = value.decode("utf-8", "replace")

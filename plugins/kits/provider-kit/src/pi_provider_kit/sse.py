"""Decodes the bytes of a stream to lines, and lines to server-sent events, regardless of chunk boundaries.

Nothing is decoded here: JSON is parsed from bytes. An incomplete event is kept as a list of pieces, because
concatenating each piece would copy a long event once per piece.

Servers deviate from the standard where something went wrong, and that is what a user has to read: errors as a field of
their own, as a line of JSON, or as plain text.
"""

from __future__ import annotations

from pi_hookspecs.errors import RequestFailed

__all__ = ["LineDecoder", "SseDecoder"]

_EVENT_LIMIT = 64 * 1_048_576
"""Bytes of one event or line; the connection to a server that sends more is closed."""

_ADVICE = "Send the prompt again, or choose another model with --model."

_BOM = b"\xef\xbb\xbf"

_FIELDS = (b"event", b"data", b"id", b"retry", b"")
"""Fields of the standard; a line that begins with a colon is a comment."""

_STRAY_LIMIT = 65_536
"""Bytes of lines that are no fields, which are kept for an error."""


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
    without data are dropped. Beyond the standard:

    - A field ``error`` is an event of that name, and a line that is a JSON object is an event.
    - Text that is none of these is an event ``error`` if nothing follows it.
    - The last line counts without a line end if it completes a JSON object or is ``[DONE]``; else it may have been cut.

    Attributes:
        last_id: The stream's last ``id``.

    Args:
        limit: Maximum bytes of one event.
    """

    __slots__ = ("_data", "_limit", "_lines", "_name", "_size", "_stray", "last_id")

    def __init__(self, limit: int = _EVENT_LIMIT) -> None:
        self.last_id = ""
        self._limit = limit
        self._lines = LineDecoder(limit)
        self._data: list[bytes] = []
        self._size = 0
        self._name = b""
        self._stray: list[bytes] | None = []
        """Lines that are no fields, since the last event; None once there was one, until there is such a line."""

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
                    event = self._event()
                    if event[1][:1] > b" " or event[1].strip():  # else a heartbeat of some servers
                        events.append(event)
                self._name = b""
            elif line.startswith(b"data:"):
                data.append(line[6:] if line.startswith(b" ", 5) else line[5:])
                if len(data) > 1:
                    self._grow(data)
            elif line.startswith(b"event:"):  # of each event, like the data
                self._name = line[7:] if line.startswith(b" ", 6) else line[6:]
            else:
                self._field(line, events)
        return events

    def close(self) -> list[tuple[str, bytes]]:
        """Return the events at the end of the stream: one without an empty line after it, and text that is an error."""
        events: list[tuple[str, bytes]] = []
        rest, data = self._lines.close(), self._data
        more = rest.startswith(b"data:")
        if more:
            data.append(rest[5:].removeprefix(b" "))
            if not _is_whole(b"\n".join(data)):
                data.pop()
        if data and (not rest or _is_whole(b"\n".join(data))):
            event = self._event()
            if event[1] and not event[1].isspace():
                events.append(event)
        data.clear()
        if rest and not more and (self._stray or not _may_be_cut(rest, nothing_before=self._stray is not None)):
            self._field(rest, events)
        if self._stray:
            events.append(("error", b"\n".join(self._stray)))
        self.__init__(self._limit)  # type: ignore[misc] # the initial state
        return events

    def _event(self) -> tuple[str, bytes]:
        data = self._data
        whole = data[0] if len(data) == 1 else b"\n".join(data)
        data.clear()
        self._size = 0
        self._stray = None
        return (self._name.decode("utf-8", "replace") if self._name else "message"), whole

    def _grow(self, data: list[bytes]) -> None:
        self._size = (self._size or len(data[0])) + len(data[-1]) + 1
        if self._size > self._limit:
            raise RequestFailed(f"The server sent an event of more than {self._limit} bytes. {_ADVICE}")

    def _field(self, line: bytes, events: list[tuple[str, bytes]]) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"event":
            self._name = value
        elif name == b"data":  # a line that is only ``data``
            self._data.append(value)
        elif name == b"id":
            if b"\0" not in value:
                self.last_id = value.decode("utf-8", "replace")
        elif name == b"error" and value.strip():
            self._stray = None
            events.append(("error", value))
        elif name not in _FIELDS and line.strip():
            self._unknown(line, events)

    def _unknown(self, line: bytes, events: list[tuple[str, bytes]]) -> None:
        """Take a line that is no field."""
        if line.lstrip().startswith(b"{") and _is_whole(line):
            self._stray = None
            events.append(("message", line))
            return
        self._stray = self._stray or []
        if sum(map(len, self._stray)) < _STRAY_LIMIT:
            self._stray.append(line)


def _is_whole(data: bytes) -> bool:
    """Whether data is complete: a JSON object, or the mark of the end."""
    from pi_provider_kit.json_values import parse_json

    if data.strip() == b"[DONE]":
        return True
    try:
        return isinstance(parse_json(data), dict)
    except ValueError:
        return False


def _may_be_cut(line: bytes, *, nothing_before: bool) -> bool:
    """Whether a last line without an end is the beginning of a field, and not a text of its own."""
    if line.startswith((b"error:", b"{")):
        return False
    begins = any(name.startswith(line) or line.startswith(name + b":") for name in (*_FIELDS[:-1], b"error"))
    return begins or not nothing_before

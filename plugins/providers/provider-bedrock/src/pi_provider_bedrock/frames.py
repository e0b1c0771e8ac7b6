"""Bytes of an ``application/vnd.amazon.eventstream``, decoded to frames; both checksums are verified.

botocore has such a decoder. This one costs an eighth of it per frame (``bench/bedrock.py``), because consecutive
deltas have the same headers; a property test compares the two.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Any, TypeAlias
from zlib import crc32

from pi_provider_kit import HttpFailed

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MEDIA_TYPE", "Frame", "FrameDecoder", "broken"]

MEDIA_TYPE = "application/vnd.amazon.eventstream"

Frame: TypeAlias = "tuple[dict[str, Any], bytes]"
"""Headers and payload. Headers are shared between frames: do not change them."""

_PRELUDE = Struct(">III")
"""Length of the frame, length of its headers, checksum of the two."""

_CHECKSUM = Struct(">I")

_HEADERS_LIMIT = 128 * 1024
_PAYLOAD_LIMIT = 24 * 1024 * 1024
"""Limit of the format."""

_KNOWN_LIMIT = 64
"""Size of the cache of headers; an answer has about eight different ones."""


class FrameDecoder:
    """Splits a stream into frames."""

    __slots__ = ("_known", "_pieces", "_size", "_wanted")

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0
        self._wanted = 0
        """Known number of bytes of the frame that begins in ``_pieces``."""
        self._known: dict[bytes, dict[str, Any]] = {}

    def feed(self, chunk: bytes) -> Iterator[Frame]:
        """Yield the frames that this chunk completes; read them all before the next one.

        Raises:
            HttpFailed: A checksum is wrong, or a length is invalid. The frames before it were yielded.
        """
        if self._pieces:  # a list, because adding each piece to the last would copy a long frame once per piece
            self._pieces.append(chunk)
            self._size += len(chunk)
            if self._size < self._wanted:
                return
            chunk = b"".join(self._pieces)
            self._pieces.clear()
        at, end = 0, len(chunk)
        wanted = _PRELUDE.size
        while end - at >= _PRELUDE.size:
            total, headers_length, checksum = _PRELUDE.unpack_from(chunk, at)
            if crc32(chunk[at : at + 8]) != checksum:
                raise broken("the checksum of a frame's length is wrong")
            wanted = _checked(total, headers_length)
            if end - at < wanted:
                break
            yield self._frame(chunk[at : at + total], headers_length, checksum)
            at += total
            wanted = _PRELUDE.size
        if at < end:
            self._pieces.append(chunk[at:] if at else chunk)
            self._size, self._wanted = end - at, wanted

    def close(self) -> tuple[()]:
        """Return nothing: no frame is complete without its end.

        Raises:
            HttpFailed: The last frame is not complete.
        """
        if self._pieces:
            raise HttpFailed("Bedrock stream ended before a frame was complete", kind="incomplete")
        return ()

    def _frame(self, data: bytes, headers_length: int, prelude_checksum: int) -> Frame:
        end = len(data) - 4
        # The checksum of the whole covers the prelude and its checksum; it continues from the latter.
        if crc32(data[8:end], prelude_checksum) != _CHECKSUM.unpack_from(data, end)[0]:
            raise broken("the checksum of a frame is wrong")
        begin = _PRELUDE.size + headers_length
        raw = data[_PRELUDE.size : begin]
        headers = self._known.get(raw)
        if headers is None:
            headers = _headers(raw)
            if len(self._known) < _KNOWN_LIMIT:
                self._known[raw] = headers
        return headers, data[begin:end]


def broken(what: str) -> HttpFailed:
    """Return the failure of an invalid stream."""
    return HttpFailed(f"Bedrock stream is broken: {what}", kind="dropped")


def _checked(total: int, headers_length: int) -> int:
    payload = total - headers_length - _PRELUDE.size - _CHECKSUM.size
    if headers_length > _HEADERS_LIMIT or not 0 <= payload <= _PAYLOAD_LIMIT:
        raise broken(f"a frame of {total} bytes with {headers_length} of headers is impossible")
    return total


# Headers: a name, a type, a value

_FIXED: dict[int, Struct] = {2: Struct(">b"), 3: Struct(">h"), 4: Struct(">i"), 5: Struct(">q"), 8: Struct(">q")}
"""Numbers, and the milliseconds of a timestamp."""

_BYTES, _TEXT, _UUID = 6, 7, 9


def _headers(raw: bytes) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    at = 0
    try:
        while at < len(raw):
            length = raw[at]
            name = _slice(raw, at + 1, length).decode()
            at += 1 + length
            value, at = _value(raw, at + 1, raw[at])
            if name in headers:
                raise broken(f"a frame has the header {name!r} twice")
            headers[name] = value
    except (IndexError, ValueError) as error:  # UnicodeDecodeError is one
        raise broken("the headers of a frame cannot be read") from error
    return headers


def _value(raw: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind in (0, 1):
        return kind == 0, at
    if kind in (_BYTES, _TEXT):
        length = int.from_bytes(_slice(raw, at, 2), "big")
        value = _slice(raw, at + 2, length)
        return (value.decode() if kind == _TEXT else value), at + 2 + length
    if kind == _UUID:
        return _slice(raw, at, 16), at + 16
    if kind not in _FIXED:
        raise ValueError(kind)
    number = _FIXED[kind]
    return number.unpack(_slice(raw, at, number.size))[0], at + number.size


def _slice(raw: bytes, at: int, length: int) -> bytes:
    if at + length > len(raw):
        raise ValueError(length)
    return raw[at : at + length]

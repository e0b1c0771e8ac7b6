"""Line splitting for both ends of the protocol: at LF alone, so that U+2028 and similar are data."""

from __future__ import annotations

__all__ = ["MAX_LINE", "LineSplitter"]

MAX_LINE = 64 * 1024 * 1024
"""Bytes of a command's line. Providers accept requests of 20 to 50 MB; a longer line would only fill memory."""


class LineSplitter:
    """Splits chunks into lines.

    Args:
        limit: Maximum bytes of a line; a longer one is dropped and reported as None, as is one for which there is no
            memory. No limit when None.
    """

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit
        self._held: list[bytes] = []
        self._length = 0
        self._too_long = False

    @property
    def is_too_long(self) -> bool:
        """Whether the line that is being read has more bytes than a line may have."""
        return self._too_long

    def feed(self, chunk: bytes) -> list[bytes | None]:
        """Return the lines that a chunk completes, without LF and without the CR before it."""
        *complete, rest = chunk.split(b"\n")
        lines = []
        for piece in complete:
            self._hold(piece)
            lines.append(self._line())
        self._hold(rest)
        return lines

    def end(self) -> list[bytes | None]:
        """Return the last line, if it came without LF."""
        return [self._line()] if self._length or self._too_long else []

    def _hold(self, piece: bytes) -> None:
        self._length += len(piece)
        if self._limit is not None and self._length > self._limit:
            self._too_long = True
            self._held.clear()
        elif piece:
            self._held.append(piece)

    def _line(self) -> bytes | None:
        try:
            return None if self._too_long else b"".join(self._held).removesuffix(b"\r")
        except MemoryError:
            return None
        finally:
            self._held.clear()
            self._length, self._too_long = 0, False

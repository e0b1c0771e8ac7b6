"""A command's output, as a terminal would leave it: the tail in memory, all of it in a file once it is long."""

from __future__ import annotations

import os
import threading
from time import monotonic
from typing import TYPE_CHECKING, Any

from pi_hookspecs import PiError
from pi_tools.commands.overwriting import Overwriting, collapsed
from pi_tools.truncate import MAX_BYTES, MAX_LINES, format_size, truncate_tail

if TYPE_CHECKING:
    from typing import BinaryIO

    from pi_hookspecs import TextStream

__all__ = ["DEFAULT_FILE_CAP", "Output"]

DEFAULT_FILE_CAP = 1024 * 1024 * 1024
_TAIL = 2 * MAX_BYTES
"""Bytes kept: twice what can be shown, so that the beginning of a line is found."""


class Output:
    """Collects bytes from any thread in bounded memory.

    Args:
        file_cap: Bytes at which the file stops growing.
        clean: Takes secrets out of what is written to the file; None leaves them.
    """

    def __init__(self, file_cap: int = DEFAULT_FILE_CAP, clean: TextStream | None = None) -> None:
        self._clean = _CleanBytes(clean) if clean is not None else None
        self._feeding = threading.Lock()
        self._lock = threading.Lock()  # never held during disk writes, because the event loop takes it, too
        self._tail = bytearray()
        self._cap = file_cap
        self._file: BinaryIO | None = None
        self._file_error = ""
        self._written = 0
        self._line = 0
        self._lines = Overwriting()
        self._rest = b""
        self.size = 0
        """Bytes so far, without a line that may still be overwritten."""
        self.newlines = 0
        self.path: str | None = None
        """The file with the full output, once there is one."""

    def feed(self, chunk: bytes) -> None:
        """Take the next piece."""
        with self._feeding:
            self._keep(self._lines.feed(chunk), self._lines.line)

    def _keep(self, chunk: bytes, rest: bytes) -> None:
        """Keep a piece that no longer changes, and the line after it, which still may."""
        size, newlines = self.size + len(chunk), self.newlines + chunk.count(b"\n")
        if self.path is None and (size > MAX_BYTES or newlines > MAX_LINES):
            self._open()
        self._write(chunk)
        with self._lock:
            self._line = self._last_line(chunk)
            self.size, self.newlines, self._rest = size, newlines, rest
            self._tail += chunk[-_TAIL:]
            if len(self._tail) > 2 * _TAIL:
                del self._tail[:-_TAIL]

    def _last_line(self, chunk: bytes) -> int:
        """Return the bytes of the last line; a newline at the end ends it and begins none."""
        if not chunk:
            return self._line
        before = 0 if self._tail.endswith(b"\n") else self._line
        end = len(chunk) - chunk.endswith(b"\n")
        start = chunk.rfind(b"\n", 0, end)
        return before + end if start < 0 else end - start - 1

    def _open(self) -> None:
        """Start the file with all output so far, which is still in the tail."""
        import tempfile

        try:
            descriptor, self.path = tempfile.mkstemp(prefix="pi-bash-", suffix=".log")
        except OSError as error:
            self.path, self._file_error = "", _reason(error)
            return
        self._file = os.fdopen(descriptor, "wb", buffering=0)
        self._write(bytes(self._tail))

    def _write(self, chunk: bytes) -> None:
        """Write a piece of the output to the file, if there is one."""
        if self._file is None:
            return
        whole = self.size + len(chunk)
        try:
            chunk = chunk if self._clean is None else self._clean.feed(chunk)
            self._write_some(memoryview(chunk)[: max(self._cap - self._written, 0)])
        except OSError as error:
            self._file_error = _reason(error)
            self._close_file()
            return
        except PiError as error:  # the plugin that takes secrets out failed
            self._file_error = str(error)
            self._close_file()
            return
        if self._written >= self._cap and self._written < whole:
            self._file_error = f"it was cut at {format_size(self._cap)}"
            self._close_file()

    def _write_some(self, view: memoryview) -> None:
        assert self._file is not None  # noqa: S101 - checked by the caller
        while view:
            count = self._file.write(view)
            self._written += count
            view = view[count:]

    def _write_rest(self) -> None:
        """Write what was held back."""
        if self._file is not None and self._clean is not None:
            try:
                self._write_some(memoryview(self._clean.end())[: max(self._cap - self._written, 0)])
            except (OSError, PiError) as error:
                self._file_error = _reason(error) if isinstance(error, OSError) else str(error)

    def _close_file(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def close(self) -> None:
        """Close the file; later output is accepted, but not written."""
        with self._feeding:
            rest, self._lines.line = collapsed(self._lines.line), b""
            self._keep(rest, b"")
            if self.path is None and self._record()["truncated"]:
                self._open()  # invalid UTF-8, whose replacements are longer than the limit
            self._write_rest()
            self._close_file()

    def tail(self) -> bytes:
        """Return the last bytes: all, or at least as many as can be shown."""
        with self._lock:
            return bytes(self._tail) + collapsed(self._rest)

    def _record(self) -> dict[str, Any]:
        whole, rest = len(self._tail) == self.size, collapsed(self._rest)
        data = bytes(self._tail if whole else self._tail[-_TAIL:]) + rest
        record = truncate_tail(data.decode("utf-8", "replace"))
        if not whole:
            record["totalLines"] = self.newlines + (not data.endswith(b"\n"))
            record["totalBytes"] = self.size + len(rest)
        return record

    def show(self) -> tuple[str, dict[str, Any] | None]:
        """Return the visible part of the output so far, with a notice about the rest, and ``details``.

        Details are ``{truncation, fullOutputPath}`` on the wire, None when everything is shown.
        """
        with self._lock:
            record, line = self._record(), self._line
            if self._rest:
                line = len(collapsed(self._rest)) + (0 if self._tail.endswith(b"\n") else line)
        if not record["truncated"]:
            return record["content"], None
        details: dict[str, Any] = {"truncation": record}
        place = f"unavailable ({self._file_error})"
        if self.path:
            details["fullOutputPath"] = self.path
            place = f"{self.path} ({self._file_error})" if self._file_error else self.path
        last = record["totalLines"]
        first = last - record["outputLines"] + 1
        if record["lastLinePartial"]:
            shown = f"Showing last {format_size(record['outputBytes'])} of line {last} (line is {format_size(line)})"
        elif record["truncatedBy"] == "lines":
            shown = f"Showing lines {first}-{last} of {last}"
        else:
            shown = f"Showing lines {first}-{last} of {last} ({format_size(MAX_BYTES)} limit)"
        return f"{record['content']}\n\n[{shown}. Full output: {place}]", details


_GATHERED = 1 << 20
"""Bytes that are cleaned at once if they come quickly: while the event loop is busy, each time takes milliseconds."""
_WAIT = 0.2
"""Seconds after which fewer bytes are cleaned, so that the file of a slow command can be read while it runs."""


class _CleanBytes:
    """Takes secrets out of bytes in pieces; what is not UTF-8 stays."""

    def __init__(self, stream: TextStream) -> None:
        from codecs import getincrementaldecoder

        self._stream = stream
        self._decoder = getincrementaldecoder("utf-8")("surrogateescape")
        self._gathered: list[bytes] = []
        self._size = 0
        self._cleaned = 0.0

    def feed(self, chunk: bytes) -> bytes:
        self._gathered.append(chunk)
        self._size += len(chunk)
        if self._size < _GATHERED and monotonic() < self._cleaned + _WAIT:
            return b""
        return self._clean()

    def end(self) -> bytes:
        rest = self._stream.feed(self._decoder.decode(b"".join(self._gathered), final=True)) + self._stream.end()
        return rest.encode("utf-8", "surrogateescape")

    def _clean(self) -> bytes:
        text = self._decoder.decode(b"".join(self._gathered))
        self._gathered, self._size = [], 0
        cleaned = self._stream.feed(text).encode("utf-8", "surrogateescape")
        self._cleaned = monotonic()
        return cleaned


def _reason(error: OSError) -> str:
    return f"it could not be written: {error.strerror or error}"

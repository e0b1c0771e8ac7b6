"""Reads lines of a file that may be larger than memory, and formats them with a notice about the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pi_tools.editing.encoding import is_utf8
from pi_tools.failure import ToolFailure
from pi_tools.truncate import MAX_BYTES, MAX_LINES, format_size, truncate_head

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

__all__ = ["EXACT_SIZE", "Slice", "read_lines", "show"]

EXACT_SIZE = 64 * 1024 * 1024
"""Up to this many bytes totals are exact; of a larger file the rest is not read."""

_CHUNK = 256 * 1024


class Slice(NamedTuple):
    """Requested lines of a file, as far as they can be shown, and statistics of the others.

    Attributes:
        start: Number of the first line, from 1.
        text: The requested lines, or at least as much of them as the limits allow to show.
        whole: Whether ``text`` is all of the requested lines.
        lines: Number of the requested lines; None if the rest was not read. A final newline begins no line.
        size: Their bytes; None as above.
        first_size: Bytes of the first one, without its newline; a lower bound where ``first_open``.
        first_open: Whether the end of the first line was not found within the limit.
        after: Number of pieces between newlines after the requested lines; None if the rest was not read.
        total: Pieces in the file, counting the empty one after a final newline; None as above.
        sample: The bytes of ``text`` if they are not UTF-8.
    """

    start: int
    text: str
    whole: bool
    lines: int | None
    size: int | None
    first_size: int
    first_open: bool
    after: int | None
    total: int | None
    sample: bytes = b""


class _Scan:
    """Reads sequentially, counting newlines; stops early when the call is aborted."""

    def __init__(self, file: BinaryIO, head: bytes, stopped: Callable[[], bool]) -> None:
        self._file = file
        self._head = head
        self._stopped = stopped

    def chunk(self) -> bytes:
        if self._head:
            head, self._head = self._head, b""
            return head
        if self._stopped():
            raise ToolFailure("Operation aborted")
        return self._file.read(_CHUNK)

    def push_back(self, rest: bytes) -> None:
        self._head = rest + self._head

    def skip(self, newlines: int) -> int:
        """Skip that many newlines; return how many there were."""
        seen = 0
        while seen < newlines and (chunk := self.chunk()):
            here = chunk.count(b"\n")
            if seen + here >= newlines:
                self.push_back(chunk[_end_of_line(chunk, newlines - seen) :])
                return newlines
            seen += here
        return seen

    def measure(self, newlines: int | None, last: bytes = b"") -> tuple[int, int, bytes]:
        """Skip that many newlines or to the end; return newlines, bytes and the last two bytes passed."""
        seen = size = 0
        while (newlines is None or seen < newlines) and (chunk := self.chunk()):
            here = chunk.count(b"\n")
            if newlines is not None and seen + here >= newlines:
                end = _end_of_line(chunk, newlines - seen)
                self.push_back(chunk[end:])
                return newlines, size + end, (last + chunk[:end])[-2:]
            seen += here
            size += len(chunk)
            last = (last + chunk)[-2:]
        return seen, size, last

    def find_newline(self, limit: int) -> tuple[int, bytes, bool]:
        """Return the bytes before the next newline, the chunk from it on, and whether there was an end."""
        size = 0
        while chunk := self.chunk():
            at = chunk.find(b"\n")
            if at >= 0:
                return size + at, chunk[at:], True
            size += len(chunk)
            if size > limit:
                return size, b"", False
        return size, b"", True


def _end_of_line(data: bytes | bytearray, number: int) -> int:
    """Return the offset after the newline of that number, which must exist."""
    at = -1
    for _ in range(number):
        at = data.find(b"\n", at + 1)
    return at + 1


def read_lines(
    file: BinaryIO, size: int, offset: int, limit: int | None, *, head: bytes = b"", stopped: Callable[[], bool]
) -> Slice:
    """Read ``limit`` lines from line ``offset`` on, holding no more than can be shown.

    Args:
        file: Binary, positioned after ``head``.
        size: The file's bytes; decides whether to read the rest for totals.
        offset: Number of the first line, from 1.
        limit: Number of requested lines; None for all.
        head: The bytes read already.
        stopped: Called between pieces; True ends the reading.

    Raises:
        ToolFailure: The offset is beyond the end, or ``stopped`` returned True.
    """
    scan = _Scan(file, head, stopped)
    skipped = scan.skip(offset - 1)
    if skipped < offset - 1:
        raise ToolFailure(f"Offset {offset} is beyond end of file ({skipped + 1} lines total)")
    kept = MAX_LINES + 1 if limit is None else min(limit, MAX_LINES + 1)
    body, newlines, ended = bytearray(), 0, False
    while newlines < kept and len(body) <= MAX_BYTES:
        chunk = scan.chunk()
        if not chunk:
            ended = True
            break
        body += chunk
        newlines += chunk.count(b"\n")
    if newlines >= kept:
        end = _end_of_line(body, kept)
        scan.push_back(bytes(body[end:]))
        del body[end:]
        newlines = kept
    return _assemble(scan, bytes(body), newlines, offset, limit, ended=ended, exact=size <= EXACT_SIZE)


def _assemble(
    scan: _Scan, body: bytes, newlines: int, offset: int, limit: int | None, *, ended: bool, exact: bool
) -> Slice:
    whole = ended or (limit is not None and newlines >= limit)
    first_size, first_open = body.find(b"\n"), False
    extra = extra_newlines = 0
    last = body[-2:]
    if first_size < 0:
        first_size = len(body)
        if not whole:
            more, rest, found = scan.find_newline(EXACT_SIZE)
            scan.push_back(rest)
            first_size, extra, first_open = first_size + more, more, not found
            last = b"-"  # some byte of the line
    if not whole and exact:
        extra_newlines, passed, last = scan.measure(None if limit is None else limit - newlines, last)
        extra += passed
    known = whole or exact
    lines, size = newlines + extra_newlines, len(body) + extra
    satisfied = limit is not None and lines >= limit
    after = total = None
    if ended or (known and not satisfied):
        after, total = 0, offset + lines
    elif known and exact:
        more_newlines, *_ = scan.measure(None)
        after = more_newlines + 1
        total = offset - 1 + lines + after
    if satisfied:  # the newline after the last requested line is not part of them, and a newline before it ends one
        size -= lines > 0
        lines -= last in (b"\n", b"\n\n")
    else:
        lines += not last.endswith(b"\n") and size > 0
    text = body[:-1] if whole and satisfied and body.endswith(b"\n") else body
    valid = text.isascii() or is_utf8(text, whole=whole)
    return Slice(
        offset,
        text.decode("utf-8", "replace"),
        whole,
        lines if known else None,
        size if known else None,
        first_size,
        first_open,
        after,
        total,
        b"" if valid else text,
    )


def show(piece: Slice, path: str, limit: int | None) -> tuple[str, dict[str, Any] | None]:
    """Return the text for the model, with a notice about omitted lines, and ``details``."""
    record = truncate_head(piece.text)
    if not piece.whole:
        record["totalLines"], record["totalBytes"] = piece.lines, piece.size
    details = {"truncation": record} if record["truncated"] else None
    if record["firstLineExceedsLimit"]:
        size = ("more than " if piece.first_open else "") + format_size(piece.first_size)
        return (
            f"[Line {piece.start} is {size}, exceeds {format_size(MAX_BYTES)} limit. "
            f"Use bash: sed -n '{piece.start}p' {path} | head -c {MAX_BYTES}]"
        ), details
    if record["truncated"]:
        last = piece.start + record["outputLines"] - 1
        if piece.total is None:
            notice = _more(piece.start, last)
        else:
            by = "" if record["truncatedBy"] == "lines" else f" ({format_size(MAX_BYTES)} limit)"
            notice = f"Showing lines {piece.start}-{last} of {piece.total}{by}. Use offset={last + 1} to continue."
        return f"{record['content']}\n\n[{notice}]", details
    if limit is None or piece.after == 0:
        return record["content"], None
    last = piece.start + limit - 1
    if piece.after is None:
        return f"{record['content']}\n\n[{_more(piece.start, last)}]", None
    return f"{record['content']}\n\n[{piece.after} more lines in file. Use offset={last + 1} to continue.]", None


def _more(first: int, last: int) -> str:
    return f"Showing lines {first}-{last}. More lines follow. Use offset={last + 1} to continue."

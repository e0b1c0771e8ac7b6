"""Limits of output for the model, and the record of a truncation."""

from __future__ import annotations

from typing import Any

from pi_tools.text import clean

__all__ = [
    "GREP_MAX_LINE_LENGTH",
    "MAX_BYTES",
    "MAX_LINES",
    "format_size",
    "size_of",
    "truncate_head",
    "truncate_line",
    "truncate_tail",
]

MAX_LINES = 2000
MAX_BYTES = 50 * 1024
GREP_MAX_LINE_LENGTH = 500
"""UTF-16 units of one line of ``grep``."""

_KILO = 1024
_FIRST_BEYOND_BMP = 0x10000


def format_size(size: int) -> str:
    """Return bytes as ``NB``, ``N.NKB`` or ``N.NMB``."""
    if size < _KILO:
        return f"{size}B"
    if size < _KILO * _KILO:
        return f"{size / _KILO:.1f}KB"
    return f"{size / (_KILO * _KILO):.1f}MB"


def size_of(text: str) -> int:
    """Return the length in UTF-8 bytes."""
    return len(text) if text.isascii() else len(clean(text).encode())


def _lines(text: str) -> list[str]:
    """Split into lines; a final newline does not begin another line."""
    if not text:
        return []
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _record(
    content: str,
    *,
    by: str | None,
    total: tuple[int, int],
    lines: int,
    limits: tuple[int, int],
    partial: bool = False,
    first_too_big: bool = False,
) -> dict[str, Any]:
    return {
        "content": content,
        "truncated": by is not None,
        "truncatedBy": by,
        "totalLines": total[0],
        "totalBytes": total[1],
        "outputLines": lines,
        "outputBytes": size_of(content),
        "lastLinePartial": partial,
        "firstLineExceedsLimit": first_too_big,
        "maxLines": limits[0],
        "maxBytes": limits[1],
    }


def truncate_head(text: str, *, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """Keep whole lines from the beginning, as many as both limits allow.

    Returns:
        ``details.truncation`` in the wire format: content, truncated, truncatedBy
        (``lines``, ``bytes`` or None), totalLines, totalBytes, outputLines, outputBytes,
        lastLinePartial, firstLineExceedsLimit, maxLines, maxBytes. Without truncation ``content`` is the text.
    """
    total = (text.count("\n") + (text[-1:] not in ("", "\n")), size_of(text))
    limits = (max_lines, max_bytes)
    if total[0] <= max_lines and total[1] <= max_bytes:
        return _record(text, by=None, total=total, lines=total[0], limits=limits)
    begin = text[: max(max_bytes, 0) + 1]  # the line that is cut here does not fit in any case
    lines = _lines(text) if begin == text else begin.split("\n")
    if lines and size_of(lines[0]) > max_bytes:
        return _record("", by="bytes", total=total, lines=0, first_too_big=True, limits=limits)
    kept, used, by = 0, -1, "lines"
    for line in lines[:max_lines]:
        used += size_of(line) + 1
        if used > max_bytes:
            by = "bytes"
            break
        kept += 1
    if kept == total[0]:  # only the final newline was too much
        by = "bytes"
    return _record("\n".join(lines[:kept]), by=by, total=total, lines=kept, limits=limits)


def truncate_tail(text: str, *, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """Keep whole lines from the end; if the last line alone is too long, its end, cut between characters.

    Returns:
        The same record as ``truncate_head``; ``lastLinePartial`` is set when the only line is cut.
    """
    lines = _lines(text)
    total = (len(lines), size_of(text))
    limits = (max_lines, max_bytes)
    if total[0] <= max_lines and total[1] <= max_bytes:
        return _record(text, by=None, total=total, lines=total[0], limits=limits)
    kept, used, by = 0, -1, "lines"
    for line in reversed(lines[-max_lines:] if max_lines > 0 else []):
        used += size_of(line) + 1
        if used > max_bytes:
            by = "bytes"
            break
        kept += 1
    if kept == 0 and lines and max_lines > 0:
        return _record(_end_of(lines[-1], max_bytes), by="bytes", total=total, lines=1, partial=True, limits=limits)
    if kept == len(lines):
        by = "bytes"
    return _record("\n".join(lines[len(lines) - kept :]), by=by, total=total, lines=kept, limits=limits)


def _end_of(line: str, max_bytes: int) -> str:
    if max_bytes <= 0:
        return ""
    data = clean(line[-max_bytes:]).encode()[-max_bytes:]
    start = 0
    while start < len(data) and data[start] & 0xC0 == 0x80:  # noqa: PLR2004 - UTF-8 continuation bytes: 10xxxxxx
        start += 1
    return data[start:].decode()


def truncate_line(line: str, max_units: int = GREP_MAX_LINE_LENGTH) -> tuple[str, bool]:
    """Cut a line at a number of UTF-16 units, between characters; return it and whether it was cut."""
    if len(line) <= max_units and (line.isascii() or _units(line) <= max_units):
        return line, False
    used = 0
    for index, char in enumerate(line):
        used += 1 + (ord(char) >= _FIRST_BEYOND_BMP)
        if used > max_units:
            return f"{line[:index]}... [truncated]", True
    return line, False


def _units(line: str) -> int:
    return len(line) + sum(char >= "\U00010000" for char in line)

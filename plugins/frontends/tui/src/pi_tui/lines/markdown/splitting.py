"""Splitting of Markdown while it is received, so that the part before a cut is laid out only once.

A safe boundary is a blank line outside of fences and lists, and within a fence the end of each line. If there is none
for ``limit`` characters or ``lines`` lines, a cut is forced: between items of a list, rows of a table (whose head is
repeated), lines, or rows of a long line. Cuts depend on the text alone, not on the pieces in which it is received.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Literal, NamedTuple

from pi_tui.lines.wrap import last_row

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Chunk", "Splitter"]

_JUDGED = 64
"""Number of characters at the beginning of a line that decide which block it begins."""

_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*\Z)|~{3,})[ \t]*([^\s`]*)")

_CODE = 4
"""Number of leading spaces that make a line code."""

_LONGEST_OPENING = 1000
"""Maximum number of characters of a fence's first line; a longer line is text."""

_ITEM = re.compile(r"( *(?:[-+*]|\d{1,9}[.)]))([ \t]+|\Z)")

_ITEM_START = re.compile(r"^ {0,3}(?:[-+*]|\d{1,9}[.)])[ \t]", re.MULTILINE)

_DELIMITER = re.compile(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\Z")


class Chunk(NamedTuple):
    """A part of the text between two cuts.

    Attributes:
        kind: ``text`` is Markdown; ``open`` and ``close`` are the marks of a fence, ``code`` are whole lines in it.
        text: The source; for ``code``, without its last line break.
        joined: Whether a forced cut separates the part from the previous one.
        head: The head of the table to which the rows in the text belong.
        language: Language of the fence, for ``open``.
    """

    kind: Literal["text", "open", "code", "close"]
    text: str
    joined: bool = False
    head: str = ""
    language: str = ""


class Splitter:
    """Cuts a text into chunks while it is received.

    Args:
        limit: Maximum number of characters of a chunk; one more forces a cut.
        lines: Maximum number of lines of a chunk; rows of a table cost more than their number of characters suggests.
        width: Cells of a row, so that a long line is cut between rows; 0 to cut it at any space.

    Attributes:
        fence: The marks that close the open fence; empty outside of a fence.
    """

    def __init__(self, limit: int, lines: int = sys.maxsize, width: int = 0) -> None:
        self._limit = limit
        self._lines = lines
        self._width = width
        self.fence = ""
        self._pending = ""  # complete lines of the current chunk, and the beginning of a line that was classified
        self._partial = ""  # the beginning of a line that is not classified yet
        self._judged = False
        self._after_blank = False
        self._content: int | None = None  # column of an open list's text
        self._joined = False
        self._head = ""

    @property
    def is_opening(self) -> bool:
        """Whether the tail is the first line of a fence."""
        return self.fence == _OPENING

    @property
    def tail(self) -> Chunk:
        """The text that belongs to no complete chunk yet."""
        text = self._pending + self._partial
        if self.fence:
            return Chunk("code", text, self._joined)
        return Chunk("text", text, self._joined, self._head)

    def feed(self, piece: str) -> Iterator[Chunk]:
        """Add a piece of text and yield the chunks that it completes."""
        *lines, last = piece.split("\n")
        for line in lines:
            yield from self._take(line)
            yield from self._end_line()
        yield from self._take(last)

    def end(self) -> Iterator[Chunk]:
        """End the text and yield the remaining chunks."""
        if self._partial:
            yield from self._judge(self._partial)
        if self.fence == _OPENING:
            yield from self._open()
        if not self.fence:
            yield from self._flush()
        elif self._pending:
            yield from self._code_line()

    def _take(self, text: str) -> Iterator[Chunk]:
        """Add a part of a line."""
        if self._judged:
            self._pending += text
        else:
            self._partial += text
            if len(self._partial) < _JUDGED:
                return
            yield from self._judge(self._partial)
        yield from self._forced()

    def _end_line(self) -> Iterator[Chunk]:
        if not self._judged:
            yield from self._judge(self._partial)
        if self.fence == _OPENING:
            yield from self._open()
        elif self.fence:
            yield from self._code_line()
        else:
            self._pending += "\n"
        self._judged = False
        yield from self._forced()

    def _judge(self, line: str) -> Iterator[Chunk]:
        """Decide which block a line begins; yield the chunk before it if that is complete."""
        self._judged = True
        self._partial = ""
        begin = line[:_JUDGED]
        if self.fence:
            self._pending += line
            return
        blank = not begin.strip()
        indented = len(begin) - len(begin.lstrip(" "))
        if not blank and self._after_blank and self._ends_chunk(begin, indented):
            yield from self._flush()
            self._content = None
        item = _ITEM.match(begin)
        if _FENCE.match(begin) and indented < self._inside:
            yield from self._flush()
            self._content = None
            self.fence = _OPENING
        elif item is not None and indented < self._inside:
            self._content = item.end(1) + 1
        self._after_blank = blank
        self._pending += line

    @property
    def _inside(self) -> int:
        """Number of leading spaces that make a line part of the open list item, or indented code."""
        return _CODE if self._content is None else min(self._content, _CODE)

    def _ends_chunk(self, begin: str, indented: int) -> bool:
        """Whether a line after a blank line begins a new chunk."""
        if self._content is None:
            return indented < self._inside or not self._pending.lstrip("\n").startswith(" " * _CODE)
        return indented < self._inside and _ITEM.match(begin) is None

    def _open(self) -> Iterator[Chunk]:
        found = _FENCE.match(self._pending)
        if found is None:  # a backtick after the marks: this is text, not a fence
            self.fence = ""
            self._pending += "\n"
            return
        self.fence = found[1]
        yield Chunk("open", self._pending, language=found[2])
        self._pending = ""

    def _code_line(self) -> Iterator[Chunk]:
        line, self._pending = self._pending, ""
        marks = line.strip()
        indented = len(line) - len(line.lstrip(" "))
        is_end = marks == self.fence[0] * len(marks) and len(marks) >= len(self.fence) and indented < _CODE
        if is_end and not self._joined:
            self.fence = ""
            self._after_blank = True
            yield Chunk("close", line)
        else:
            yield Chunk("code", line, self._joined)
            self._joined = False

    def _flush(self) -> Iterator[Chunk]:
        text, self._pending = self._pending, ""
        if text.strip():
            yield Chunk("text", text, self._joined, self._head)
        self._joined, self._head = False, ""

    def _forced(self) -> Iterator[Chunk]:
        """Force cuts while the pending text is too long."""
        if self.fence == _OPENING and len(self._pending) > _LONGEST_OPENING:
            self.fence = ""
        while self.fence != _OPENING and self._is_long():
            at = self._cut_at()
            text, self._pending = self._pending[:at], self._pending[at:]
            if self.fence:
                yield Chunk("code", text, self._joined)
            else:
                yield Chunk("text", text, self._joined, self._head)
                self._head = self._head or _table_head(text)
            self._joined = True

    def _is_long(self) -> bool:
        return len(self._pending) > self._limit or self._pending.count("\n") > self._lines

    def _cut_at(self) -> int:
        text = self._pending[: self._limit]
        if not self.fence:
            if self._content is not None:
                starts = [found.start() for found in _ITEM_START.finditer(text) if found.start()]
                if starts:
                    return starts[-1]
            line = text.rfind("\n") + 1
            if line:
                return line
            if self._width and self._content is None:
                return last_row(text, self._width) or self._limit
        return text.rfind(" ") + 1 or self._limit


_OPENING = "?"
"""Value of ``fence`` until the first line of a fence is complete."""


def _table_head(text: str) -> str:
    """Return the first two lines of a table; empty for other text."""
    lines = text.split("\n", 2)
    if len(lines) > 2 and "|" in lines[0] and "-" in lines[1] and _DELIMITER.match(lines[1]):  # noqa: PLR2004
        return "\n".join(lines[:2]) + "\n"
    return ""

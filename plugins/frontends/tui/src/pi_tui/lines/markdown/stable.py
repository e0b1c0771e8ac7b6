"""Layout of Markdown while it is received: complete parts are laid out once; only the tail is parsed again.

The cost of a frame does not depend on the length of the answer. When the answer is complete, parts that forced cuts
separated are laid out again as a whole; the result equals that of ``markdown_rows``.
"""

from __future__ import annotations

from itertools import groupby, zip_longest
from typing import TYPE_CHECKING

from attrs import define, evolve, field

from pi_tui.lines.line import BLANK
from pi_tui.lines.markdown.blocks import piece_rows
from pi_tui.lines.markdown.code import MOST_HIGHLIGHTED, code_rows, fence_row, highlighted
from pi_tui.lines.markdown.diagrams import diagram_rows, is_diagram
from pi_tui.lines.markdown.splitting import Chunk, Splitter

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_hookspecs import Line
    from pi_tui.lines.markdown.inline import Ink

__all__ = ["StreamingMarkdown", "markdown_rows"]

STREAMED = 3000
"""Maximum characters of the tail, and of each part, while an answer is received."""

_LINE = 75
"""Number of characters that cost as much as the minimum for a line."""

WHOLE = 20_000
"""Maximum characters of a part of a complete answer."""


@define(eq=False)
class _Fence:
    """A fence: its code, the number of rows of its opening mark, and the position of the rows after it."""

    language: str
    opening: int
    lines: list[str] = field(factory=list)
    first_row: int = 0
    heights: list[int] = field(factory=list)
    closed: bool = False
    highlighted: bool = False


class StreamingMarkdown:
    """The rows of a growing text.

    Args:
        width: Cells of a row.
        ink: The style of plain text.
        streamed: Maximum characters of a part while the text is received.
        whole: Maximum characters of a part of the complete text.

    Attributes:
        parsed: Number of characters parsed as Markdown so far, for measurements.
    """

    def __init__(self, width: int, ink: Ink, *, streamed: int = STREAMED, whole: int = WHOLE) -> None:
        self._width = width
        self._ink = ink
        self._growing = evolve(ink, highlight=False)
        self._whole = whole
        self._splitter = Splitter(streamed, streamed // _LINE if streamed < whole else streamed, width)
        self._done: list[Chunk] = []
        self._rows: list[Line] = []
        self._fences: list[_Fence] = []
        self._tail: list[Line] | None = None
        self._last_tail: list[Line] = []
        self._draws = ink.diagrams == "streaming"
        self.parsed = 0

    def feed(self, piece: str) -> None:
        """Append a piece to the text."""
        if piece:
            self._add(self._splitter.feed(piece))
            self._tail = None

    def end(self) -> None:
        """End the text: lay out the tail, and again the parts that forced cuts separated, or that are diagrams."""
        rest = [*self._splitter.end()]
        self._tail = []
        draws, self._draws = self._draws, self._ink.diagrams != "off"
        if any(chunk.joined for chunk in (*self._done, *rest)):
            rest = [*_recut([*self._done, *rest], self._whole, self._width)]
            self._done, self._rows, self._fences = [], [], []
        elif self._draws > draws and any(is_diagram(each.language) for each in self._fences):
            rest = [*self._done, *rest]
            self._done, self._rows, self._fences = [], [], []
        self._add(rest)
        for fence in self._fences[-1:]:
            fence.closed = True

    def __len__(self) -> int:
        return len(self._rows) + len(self._tail_rows())

    def window(self, start: int, stop: int) -> list[Line]:
        """Return the rows from ``start`` to ``stop``; complete fences among them are highlighted."""
        for fence in self._fences:
            last = fence.first_row + sum(fence.heights)
            if fence.closed and not fence.highlighted and fence.first_row < stop and last > start:
                self._highlight(fence)
        frozen = self._rows[start:stop]
        return frozen + self._tail_rows()[max(start - len(self._rows), 0) : max(stop - len(self._rows), 0)]

    def rows(self) -> list[Line]:
        """Return all rows."""
        return self.window(0, len(self))

    # Layout

    def _add(self, chunks: Iterable[Chunk]) -> None:
        for chunk in chunks:
            self._done.append(chunk)
            self._lay_out(chunk)

    def _lay_out(self, chunk: Chunk) -> None:
        if chunk.kind == "text":
            self._rows += self._separated(self._markdown(chunk, self._ink), joined=chunk.joined)
        elif chunk.kind == "open":
            opening = fence_row(f"```{chunk.language}", self._ink, self._width)
            self._rows += self._separated(opening)
            self._fences.append(_Fence(chunk.language, opening=len(opening), first_row=len(self._rows)))
        elif chunk.kind == "code":
            self._add_code(self._fences[-1], chunk)
        else:
            self._close(self._fences[-1])

    def _close(self, fence: _Fence) -> None:
        """End a fence: a diagram replaces its source."""
        fence.closed = True
        drawn = diagram_rows("\n".join(fence.lines), self._width, self._ink) if self._is_drawn(fence) else None
        if drawn is None:
            self._rows += fence_row("```", self._ink, self._width)
            return
        self._fences.remove(fence)
        del self._rows[fence.first_row - fence.opening :]
        self._rows += drawn

    def _is_drawn(self, fence: _Fence) -> bool:
        return self._draws and is_diagram(fence.language)

    def _add_code(self, fence: _Fence, chunk: Chunk) -> None:
        rows = self._code(chunk)
        if chunk.joined:
            fence.lines[-1] += chunk.text
            fence.heights[-1] += len(rows)
        else:
            fence.lines.append(chunk.text)
            fence.heights.append(len(rows))
        self._rows += rows

    def _code(self, chunk: Chunk) -> list[Line]:
        return code_rows([[self._ink.run(chunk.text, role="mdCodeBlock")]], self._width)[0]

    def _markdown(self, chunk: Chunk, ink: Ink) -> list[Line]:
        if not chunk.text.strip():
            return []
        source = chunk.head + chunk.text
        self.parsed += len(source)
        return piece_rows(source, self._width, ink)

    def _separated(self, rows: list[Line], *, joined: bool = False) -> list[Line]:
        return [BLANK, *rows] if self._rows and rows and not joined else rows

    def _tail_rows(self) -> list[Line]:
        if self._tail is None:
            chunk = self._splitter.tail
            if self._splitter.is_opening:
                self._tail = self._separated(fence_row(chunk.text.strip(), self._ink, self._width))
            elif chunk.kind == "code":
                self._tail = self._code(chunk) if chunk.text else []
            else:
                rows = self._separated(self._markdown(chunk, self._growing), joined=chunk.joined)
                known = zip_longest(rows, self._last_tail[: len(rows)])
                self._tail = [before if row == before else row for row, before in known]  # who draws them knows them
            self._last_tail = self._tail
        return self._tail

    def _highlight(self, fence: _Fence) -> None:
        fence.highlighted = True
        code = "\n".join(fence.lines)
        if not fence.language or len(code) > MOST_HIGHLIGHTED:
            return
        plain = self._ink.run("", role="mdCodeBlock")
        rows = [row for line in code_rows(highlighted(code, fence.language, plain), self._width) for row in line]
        if len(rows) == sum(fence.heights):
            self._rows[fence.first_row : fence.first_row + len(rows)] = rows


def markdown_rows(text: str, width: int, ink: Ink, *, whole: int = WHOLE) -> list[Line]:
    """Return the rows of a complete text."""
    streaming = StreamingMarkdown(width, ink, streamed=whole, whole=whole)
    streaming.feed(text)
    streaming.end()
    return streaming.rows()


def _recut(chunks: Sequence[Chunk], limit: int, width: int) -> Iterable[Chunk]:
    """Yield chunks of at most ``limit`` characters, undoing the forced cuts of the stream."""
    group = 0
    numbered = []
    for chunk in chunks:
        group += not chunk.joined
        numbered.append((group, chunk))
    for _, parts in groupby(numbered, key=lambda each: each[0]):
        group_chunks = [chunk for _, chunk in parts]
        first = group_chunks[0]
        if len(group_chunks) == 1:
            yield first
        elif first.kind == "code":
            yield Chunk("code", "".join([each.text for each in group_chunks]))
        else:
            splitter = Splitter(limit, width=width)
            yield from splitter.feed("".join([each.text for each in group_chunks]))
            yield from splitter.end()

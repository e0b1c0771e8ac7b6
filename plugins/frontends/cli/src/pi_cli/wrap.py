"""Word wrap of streamed text.

A word that begins well before the right edge is written as it arrives and never moved; only near the edge a word is
held back until it is complete. Code fences and rows of tables are not wrapped, so that they can be copied unchanged.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pi_terminal_kit.words import fitting, width_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["WordWrap", "folded"]

_TAB = 8

_EDGE = 20
"""Columns before the right edge in which a word is held back; at most a third of a narrow row."""

_NO_GAPS = "\u2e80-\u2fff\u3001-\u33ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uff60\U00020000-\U0003fffd"
"""Characters of scripts without spaces between words."""

_WORD = rf"[^\s{_NO_GAPS}]+"  # compiled at first use, as the next three are, in 2 ms: no pipe needs them

_PIECES = rf"\n|[^\S\n]+|[^\s{_NO_GAPS}]+|\S"
"""Line ends, gaps, words, and characters that are words by themselves."""

_HEAD = r"[ \t]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?(?:>[ \t]?)*"
"""Prefix of the later rows of a line: its indentation, the width of a list's bullet, a quotation mark."""

_FENCE = r"[ \t]*(`{3,}|~{3,})"


class WordWrap:
    """Breaks text into rows as it is fed.

    Args:
        width: Returns the columns of a row, called at every word; None for no wrapping.
    """

    def __init__(self, width: Callable[[], int | None]) -> None:
        self._width = width
        self._fence = ""
        self._begin()

    def _begin(self) -> None:
        self._line = ""  # the current line of the text as written so far, without our breaks
        self._column = 0
        self._held = ""
        self._in_word = False  # a part of the last word was written

    def feed(self, text: str) -> str:
        """Return what can be written now."""
        out = ""
        if self._in_word and text:
            out = _word_at_start(text)
            self._put(out)
            text = text[len(out) :]
            self._in_word = not text
        pieces = re.findall(_PIECES, self._held + text)
        self._held = ""
        if not pieces or pieces[-1] == "\n":
            return out + "".join(self._written(pieces))
        last = pieces.pop()
        gap = pieces.pop() if not last.isspace() and pieces and _is_gap(pieces[-1]) else ""
        out += "".join(self._written(pieces))
        if last.isspace() or self._is_near_the_edge(gap):
            self._held = gap + last
            return out
        self._in_word = bool(_word_at_start(last))
        return out + self._word(gap, last)

    def end(self) -> str:
        """Return the rest and reset: the next text begins on a new row, outside of any fence."""
        rest = "".join(self._written(re.findall(_PIECES, self._held)))
        self._fence = ""
        self._begin()
        return rest

    def _written(self, pieces: Iterable[str]) -> Iterator[str]:
        gap = ""
        for piece in pieces:
            if piece == "\n":
                self._end_line()
                yield gap + piece
            elif not _is_gap(piece):
                yield self._word(gap, piece)
            gap = piece if _is_gap(piece) else ""
        if gap:
            self._put(gap)
            yield gap

    def _word(self, gap: str, word: str) -> str:
        width, moves = self._width(), self._is_near_the_edge(gap)
        end = _column(self._column, gap + word)
        head = re.match(_HEAD, self._line + gap)
        indent = head[0] if head is not None else ""
        begins = len(self._line + gap) <= len(indent)
        if width is None or not moves or end <= width or begins or self._is_verbatim():
            self._put(gap + word)
            return gap + word
        self._line += gap + word
        indent = re.sub(r"[^\s>]", " ", indent) if _column(0, indent) <= width // 2 else ""
        self._column = _column(_column(0, indent), word)
        return f"\n{indent}{word}"

    def _put(self, text: str) -> None:
        self._line += text
        self._column = _column(self._column, text)
        width = self._width()
        if width is not None and self._column > width:  # the terminal itself has broken it
            self._column = (self._column - 1) % width + 1

    def _is_near_the_edge(self, gap: str) -> bool:
        width = self._width()
        return width is not None and _column(self._column, gap) > width - min(_EDGE, width // 3)

    def _is_verbatim(self) -> bool:
        return bool(self._fence) or self._line.lstrip()[:1] == "|" or re.match(_FENCE, self._line) is not None

    def _end_line(self) -> None:
        found = re.match(_FENCE, self._line)
        if found is not None:
            marks = found[1]
            if not self._fence:
                self._fence = marks
            elif marks.startswith(self._fence) and not self._line[found.end() :].strip():
                self._fence = ""
        self._line, self._column = "", 0


def folded(text: str, width: int) -> str:
    """Return wrapped text: broken between words, and inside a word that is wider than a row."""
    wrap = WordWrap(lambda: width)
    rows: list[str] = []
    for row in (wrap.feed(text) + wrap.end()).split("\n"):
        rest = row
        while width_of(rest) > width:
            room = max(fitting(rest, width), 1)
            rows.append(rest[:room])
            rest = rest[room:]
        rows.append(rest)
    return "\n".join(rows)


def _word_at_start(text: str) -> str:
    found = re.match(_WORD, text)
    return found[0] if found is not None else ""


def _is_gap(piece: str) -> bool:
    return piece.isspace() and piece != "\n"


def _column(start: int, text: str) -> int:
    """Return the column after a text that begins in column ``start``."""
    if "\t" not in text:
        return start + width_of(text)
    for part in re.split("(\t)", text):
        start = (start // _TAB + 1) * _TAB if part == "\t" else start + width_of(part)
    return start

"""Parsing of Textual's output: what each frame writes to which row of the terminal."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import zip_longest
from typing import NamedTuple

from attrs import define
from rich.cells import cell_len

from pi_tui.editor.clusters import is_narrow
from pi_tui.lines.graphics import PLACEHOLDER
from pi_tui.squeeze import style_after

__all__ = ["PLAIN", "Piece", "Styles", "pieces", "styled"]

PLAIN = "\0"
"""The mark of a cell without a style."""

_MOVE = re.compile(r"\x1b\[(\d+);(\d+)H")

_RESETS = re.compile(r"(?:\x1b\[0?m)*")

_TOKEN = re.compile(
    r"\x1b\[(?P<style>[0-9;]*)m|(?P<link>\x1b\]8;[^\x07\x1b]*(?:\x07|\x1b\\))|(?P<text>[^\x1b]+)|(?P<other>\x1b)"
)

_MOST_CONTENTS = 2000
"""Contents of pieces that are kept, about fifty screens."""


class Styles:
    """Marks of styles: a character for each, so that a row is two texts, which Python compares and cuts at once."""

    def __init__(self) -> None:
        self._marks = {"": PLAIN}
        self._codes = {PLAIN: ""}
        self._contents: dict[tuple[str, bool], Content | None] = {}

    def __len__(self) -> int:
        return len(self._marks)

    def mark(self, codes: str) -> str:
        """Return the mark of a style."""
        found = self._marks.get(codes)
        if found is None:
            found = self._marks[codes] = chr(len(self._marks))
            self._codes[found] = codes
        return found

    def codes(self, mark: str) -> str:
        """Return the codes of a style."""
        return self._codes[mark]

    def content(self, written: str, *, is_end: bool) -> Content | None:
        """Return what a piece writes; None if it does anything else. Most rows of a frame were in one before.

        Args:
            written: The output after the move of the cursor.
            is_end: Whether nothing follows it in the frame.
        """
        key = written, is_end
        if key not in self._contents:
            if len(self._contents) > _MOST_CONTENTS:
                self._contents.clear()
            self._contents[key] = _content(written, self, is_end=is_end)
        return self._contents[key]


class Content(NamedTuple):
    """What a piece writes; see ``Piece``."""

    raw: str
    text: str
    marks: str | None


@define
class Piece:
    """The output after one move of the cursor, without a trailing line break.

    Attributes:
        row: Index of the row, from 0.
        column: Index of the first column, from 0.
        raw: The sequences and the text, including all styles that they need.
        text: The text alone.
        marks: The style of each character; None if a character may not be one cell wide, or if there is a link.
    """

    row: int
    column: int
    raw: str = ""
    text: str = ""
    marks: str | None = ""

    @property
    def end(self) -> int:
        """Index of the column after the piece."""
        return self.column + (cell_len(self.text) if self.marks is None else len(self.text))


def pieces(data: str, styles: Styles) -> list[Piece] | None:
    """Return the pieces that a frame writes; None if the frame does anything else."""
    moves = [*_MOVE.finditer(data)]
    if moves and not _RESETS.fullmatch(data, 0, moves[0].start()):
        return None
    found: list[Piece] = []
    for move, following in zip_longest(moves, moves[1:]):
        end = len(data) if following is None else following.start()
        content = styles.content(data[move.end() : end], is_end=following is None)
        if content is None:
            return None
        found.append(Piece(int(move[1]) - 1, int(move[2]) - 1, *content))
    return found


def _content(written: str, styles: Styles, *, is_end: bool) -> Content | None:
    raw = text = style = ""
    marks: str | None = ""
    for token in _TOKEN.finditer(written):
        kind = token.lastgroup
        shown = token[0]
        if kind == "style":
            style = style_after(style, token["style"])
        elif kind == "link":
            marks = None
        elif kind == "text":
            if written.startswith("\x1b[", token.end()) or (token.end() == len(written) and not is_end):
                shown = shown.removesuffix("\n").removesuffix("\r")
            if not shown.replace(PLACEHOLDER, "").isprintable():
                return None
            text += shown
            is_single = is_narrow(shown) or all(map(_is_single, shown))
            marks = marks + styles.mark(style) * len(shown) if marks is not None and is_single else None
        else:
            return None
        raw += shown
    return None if style else Content(raw, text, marks)


@lru_cache(maxsize=1000)
def _is_single(character: str) -> bool:
    """Whether a character takes one cell, whatever its neighbours are."""
    return cell_len(character) == 1 and not "\U0001f1e6" <= character <= "\U0001f1ff"


def styled(text: str, marks: str, styles: Styles) -> str:
    """Return the output that writes cells, which begins and ends with a plain style."""
    parts: list[str] = []
    start, style = 0, ""
    while start < len(text):
        end = len(text) - len(marks[start:].lstrip(marks[start]))
        wanted = styles.codes(marks[start])
        if wanted != style:
            parts.append(f"\x1b[0m\x1b[{wanted}m" if wanted else "\x1b[0m")
            style = wanted
        parts.append(text[start:end])
        start = end
    return "".join(parts) + ("\x1b[0m" if style else "")

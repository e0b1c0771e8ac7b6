"""Parsing of Textual's output: what each frame writes to which row of the terminal."""

from __future__ import annotations

import re
from functools import lru_cache

from attrs import define
from rich.cells import cell_len

from pi_tui.editor.clusters import is_narrow
from pi_tui.lines.graphics import PLACEHOLDER

__all__ = ["PLAIN", "Piece", "Styles", "pieces", "styled"]

PLAIN = "\0"
"""The mark of a cell without a style."""

_TOKEN = re.compile(
    r"\x1b\[(?P<style>[0-9;]*)m|\x1b\[(?P<row>\d+);(?P<column>\d+)H|(?P<link>\x1b\]8;[^\x07\x1b]*(?:\x07|\x1b\\))"
    r"|(?P<text>[^\x1b]+)|(?P<other>\x1b)"
)


class Styles:
    """Marks of styles: a character for each, so that a row is two texts, which Python compares and cuts at once."""

    def __init__(self) -> None:
        self._marks = {"": PLAIN}
        self._codes = {PLAIN: ""}

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
    found: list[Piece] = []
    style = ""
    for token in _TOKEN.finditer(data):
        kind = token.lastgroup
        if kind == "column":
            found.append(Piece(int(token["row"]) - 1, int(token["column"]) - 1))
        elif kind == "style":
            style = _styled(style, token["style"])
            if found:
                found[-1].raw += token[0]
        elif kind == "other" or not found:
            return None
        elif kind == "link":
            found[-1].raw += token[0]
            found[-1].marks = None
        elif not _add(found[-1], token["text"], styles.mark(style), is_last=data.startswith("\x1b[", token.end())):
            return None
    return None if style else found


def _styled(style: str, codes: str) -> str:
    """Return the style after codes, which are added to the previous ones unless they begin with a reset."""
    if codes in ("", "0"):
        return ""
    if codes.startswith("0;"):
        return codes[2:]
    return f"{style};{codes}" if style else codes


def _add(piece: Piece, text: str, mark: str, *, is_last: bool) -> bool:
    if is_last:
        text = text.removesuffix("\n").removesuffix("\r")
    if not text.replace(PLACEHOLDER, "").isprintable():
        return False
    piece.raw += text
    piece.text += text
    if piece.marks is not None and (is_narrow(text) or all(map(_is_single, text))):
        piece.marks += mark * len(text)
    else:
        piece.marks = None
    return True


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

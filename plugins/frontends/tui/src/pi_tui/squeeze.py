"""Compression of Textual's output, which styles each segment separately and fills rows with spaces."""

from __future__ import annotations

import re

__all__ = ["squeezed", "style_after"]

_TOKEN = re.compile(
    r"\x1b\[(?P<style>[0-9;]*)m"
    r"|(?P<move>\x1b\[\d+;(?P<column>\d+)H)"
    r"|(?P<other>\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b.?)"
    r"|(?P<text>[^\x1b]+)",
    re.DOTALL,
)
_SHORTEST = 4
"""Minimum number of spaces at the end of a row that are erased rather than written: erasing takes three bytes."""


def squeezed(data: str, width: int) -> str:
    """Return shorter output that draws the same on a terminal of this width, beginning with a plain style.

    Styles are written only where they change; line breaks before a move of the cursor are omitted; plain spaces at the
    end of a row are replaced by erasing.
    """
    writer = _Writer(width)
    tokens = [*_TOKEN.finditer(data)]
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        kind = token.lastgroup
        if kind == "style":
            writer.style(token["style"])
        elif token["move"] is not None:
            writer.move(token["move"], int(token["column"]))
        elif kind == "other":
            writer.other(token["other"])
        else:
            writer.text(token["text"], is_before_move=following is not None and following["move"] is not None)
    return writer.finished()


class _Writer:
    """The output so far, with the terminal's current style and the style of the next text."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._parts: list[str] = []
        self._has = ""
        self._wanted = ""
        self._column: int | None = None

    def style(self, codes: str) -> None:
        """Style the next text."""
        self._wanted = style_after(self._wanted, codes)

    def move(self, sequence: str, column: int) -> None:
        """Move the cursor, which requires no style."""
        self._parts.append(sequence)
        self._column = column

    def other(self, sequence: str) -> None:
        """Write a sequence that may depend on the style."""
        self._use_style()
        self._parts.append(sequence)
        self._column = None

    def text(self, text: str, *, is_before_move: bool) -> None:
        """Write text."""
        if is_before_move:
            text = text.removesuffix("\n").removesuffix("\r")
        if not text:
            return
        self._use_style()
        end = self._column + len(text) if self._column is not None and _is_plain(text) else None
        if is_before_move and end == self._width + 1 and not self._has:
            shorter = text.rstrip(" ")
            if len(text) - len(shorter) >= _SHORTEST:
                text = f"{shorter}\x1b[K"
        self._parts.append(text)
        self._column = end

    def finished(self) -> str:
        """Return the complete output."""
        self._use_style()
        return "".join(self._parts)

    def _use_style(self) -> None:
        if self._wanted != self._has:
            before = "0;" if self._has and self._wanted else ""
            self._parts.append(f"\x1b[{before}{self._wanted or '0'}m")
            self._has = self._wanted


def style_after(style: str, codes: str) -> str:
    """Return the style after codes, which are added to the previous ones unless they begin with a reset."""
    if codes in ("", "0"):
        return ""
    if codes.startswith("0;"):
        return codes[2:]
    return f"{style};{codes}" if style else codes


def _is_plain(text: str) -> bool:
    """Whether each character is one cell wide."""
    return text.isascii() and text.isprintable()

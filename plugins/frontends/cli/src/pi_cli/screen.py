"""stdout for answers, stderr for everything else, and how they share a terminal without mixing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, TypeAlias

from pi_cli.wrap import WordWrap, folded
from pi_core import clean_text

if TYPE_CHECKING:
    from typing import TextIO

__all__ = ["Kind", "Screen", "Style"]

Kind: TypeAlias = Literal["answer", "thinking", "output"]
"""A paragraph of the model's answer, of its thinking, or of a command's output, which is not wrapped at words."""

Style: TypeAlias = Literal["", "dim", "thinking", "added", "removed"]

_SGR = {"dim": "\x1b[2m", "thinking": "\x1b[2;3m", "added": "\x1b[32m", "removed": "\x1b[31m"}

_WIDTH_ELSEWHERE = 160
"""Columns of a line where stderr is not a terminal."""


class Screen:
    """Writes streamed paragraphs of text, and single lines between them.

    Args:
        out: For the model's text.
        err: For status lines.
        color: Whether text may be styled.
        wraps: Whether to wrap answers and lines at words; otherwise the terminal breaks them anywhere.

    Attributes:
        streams: Whether ``out`` is a terminal, to which text is streamed.
        broken: Whether the reader of ``out`` is gone; all further text is dropped.
    """

    def __init__(self, out: TextIO, err: TextIO, *, color: bool = False, wraps: bool = False) -> None:
        self.streams = out.isatty()
        self.broken = False
        self._out = out
        self._err = err
        self._color = color
        self._shared = self.streams and err.isatty()
        self._unicode = "utf" in (err.encoding or "").lower()
        self._last: Literal["text", "line"] | None = None
        self._open: Kind | None = None
        self._held = ""
        self._wraps = wraps
        self._wrap = WordWrap(lambda: _columns(self._out) if wraps else None)

    @property
    def width(self) -> int:
        """Columns of a line on ``err``."""
        return _columns(self._err) or _WIDTH_ELSEWHERE

    def text(self, piece: str, kind: Kind = "answer") -> None:
        """Append to the paragraph of this kind, or begin one. Empty lines around it are dropped."""
        if self._open not in (None, kind):
            self.end_text()
        piece = self._held + clean_text(piece)
        if self._open is None:
            piece = piece.lstrip("\n")
        body = piece.rstrip("\n")
        self._held = piece[len(body) :]
        if not body:
            return
        if self._open is None:
            if self._last is not None:
                self._write("\n")
            self._open, self._last = kind, "text"
        self._append(body if kind == "output" else self._wrap.feed(body))

    def end_text(self) -> None:
        """End the paragraph, if there is one."""
        self._held = ""
        if self._open is not None:
            self._append(self._wrap.end())
            self._open = None
            self._write("\n")

    def answer(self, text: str) -> None:
        """Write a whole answer unchanged, with a newline at its end."""
        if text:
            self._write(text if text.endswith("\n") else f"{text}\n")

    def line(self, text: str, *, dim: bool = False) -> None:
        """Write one or more status lines, after ending an open paragraph."""
        text = clean_text(text)
        if self._wraps:
            wrap = WordWrap(lambda: _columns(self._err))
            text = wrap.feed(text) + wrap.end()
        self.styled(text, "dim" if dim else "")

    def styled(self, text: str, style: Style) -> None:
        """Write a line in a style."""
        text = clean_text(text)
        self.end_text()
        gap = "\n" if self._shared and self._last == "text" else ""
        if self._shared:
            self._last = "line"
        try:
            self._err.write(f"{gap}{self._in_style(text, style)}\n")
            self._err.flush()
        except (OSError, ValueError):  # no reader; the answer matters more
            return

    def mark(self, kind: Literal["call", "done", "failed"]) -> str:
        """Return the mark before a tool call's line."""
        signs = {"call": "→", "done": "←", "failed": "✗"}, {"call": "->", "done": "<-", "failed": "x"}
        return signs[0 if self._unicode else 1][kind]

    def folded(self, text: str) -> str:
        """Return a line wrapped to the width, where there is a terminal."""
        width = _columns(self._err)
        return text if width is None else folded(text, width)

    def _append(self, text: str) -> None:
        if text:
            self._write(self._in_style(text, "thinking" if self._open == "thinking" else ""))

    def _in_style(self, text: str, style: Style) -> str:
        """Return text in a style, row by row, so that text written between two rows is not styled."""
        if not style or not self._color:
            return text
        return "\n".join(f"{_SGR[style]}{row}\x1b[0m" if row else "" for row in text.split("\n"))

    def _write(self, text: str) -> None:
        if self.broken:
            return
        try:
            self._out.write(text)
            self._out.flush()
        except BrokenPipeError:
            self.broken = True


def _columns(stream: TextIO) -> int | None:
    """Return the columns of the terminal behind a stream; None if there is none."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or None
    except (OSError, ValueError):
        return None

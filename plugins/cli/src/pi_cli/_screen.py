"""stdout for answers, stderr for everything else, and how they share a terminal without running into each other."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from pi_cli._words import shorten
from pi_core.terminal_text import clean_text

if TYPE_CHECKING:
    from typing import TextIO

__all__ = ["Screen"]

_WIDTH_ELSEWHERE = 160
"""Columns of a line where stderr is no terminal."""


class Screen:
    """Writes paragraphs of text as they grow, and single lines beside them.

    Args:
        out: For the model's text.
        err: For lines about what happens.
        color: Whether lines may be styled.

    Attributes:
        streams: Whether ``out`` is a terminal, where text is shown while it grows.
        broken: Nobody reads ``out`` any more; all further text is dropped.
    """

    def __init__(self, out: TextIO, err: TextIO, *, color: bool = False) -> None:
        self.streams = out.isatty()
        self.broken = False
        self._out = out
        self._err = err
        self._color = color
        self._shared = self.streams and err.isatty()
        self._unicode = "utf" in (err.encoding or "").lower()
        self._last: Literal["text", "line"] | None = None
        self._open = False
        self._held = ""

    @property
    def width(self) -> int:
        """Columns of a line on ``err``."""
        try:
            return os.get_terminal_size(self._err.fileno()).columns or _WIDTH_ELSEWHERE
        except (OSError, ValueError):
            return _WIDTH_ELSEWHERE

    def text(self, piece: str) -> None:
        """Go on with the paragraph of text, or begin one. Empty lines around it are not shown."""
        piece = self._held + clean_text(piece)
        if not self._open:
            piece = piece.lstrip("\n")
        body = piece.rstrip("\n")
        self._held = piece[len(body) :]
        if not body:
            return
        if not self._open:
            if self._last is not None:
                self._write("\n")
            self._open, self._last = True, "text"
        self._write(body)

    def end_text(self) -> None:
        """End the paragraph, if there is one."""
        self._held = ""
        if self._open:
            self._open = False
            self._write("\n")

    def answer(self, text: str) -> None:
        """Write a whole answer as it is, with a newline at its end."""
        if text:
            self._write(text if text.endswith("\n") else f"{text}\n")

    def line(self, text: str, *, dim: bool = False) -> None:
        """Write a line about what happens, or several, after the paragraph that may be open."""
        text = clean_text(text)
        self.end_text()
        gap = "\n" if self._shared and self._last == "text" else ""
        if self._shared:
            self._last = "line"
        styled = f"\x1b[2m{text}\x1b[0m" if dim and self._color else text
        try:
            self._err.write(f"{gap}{styled}\n")
            self._err.flush()
        except (OSError, ValueError):  # nobody reads it; the answer counts
            return

    def mark(self, kind: Literal["call", "failed"]) -> str:
        """Return the sign before a tool call's line."""
        return {"call": "→", "failed": "✗"}[kind] if self._unicode else {"call": "->", "failed": "x"}[kind]

    def fit(self, text: str) -> str:
        """Cut a line to the width."""
        return shorten(text, self.width)

    def _write(self, text: str) -> None:
        if self.broken:
            return
        try:
            self._out.write(text)
            self._out.flush()
        except BrokenPipeError:
            self.broken = True

"""Width of text at a terminal, and truncation to a width."""

from __future__ import annotations

import re

from pi_core.base.terminal_text import clean_text, one_line

__all__ = ["COLORS", "one_line", "plain_row", "sentences", "shorten", "width_of"]

COLORS = r"\x1b\[[0-9;:]*m"
"""Escape sequences for colours and attributes (SGR)."""


def plain_row(row: object) -> str:
    """Return a row that a plugin drew as plain text on one line: without colours, with its spaces."""
    return clean_text(" ".join(re.sub(COLORS, "", str(row)).expandtabs().splitlines()))


def sentences(text: str) -> list[str]:
    """Split a text into its sentences."""
    return re.split(r"(?<=\.) (?=[A-Z])", text)


def width_of(text: str) -> int:
    """Return the number of columns of a line at a terminal."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    visible = (each for each in text if category(each) not in ("Mn", "Me", "Cf"))
    return sum(2 if east_asian_width(each) in "WF" else 1 for each in visible)


def shorten(text: str, width: int, *, mark: str = "…") -> str:
    """Return a line truncated to the width, with a mark where it was cut."""
    if width_of(text) <= width:
        return text
    room = max(width - width_of(mark), 0)
    cut = text[:room]
    while width_of(cut) > room:
        cut = cut[:-1]
    return f"{cut.rstrip()}{mark}"

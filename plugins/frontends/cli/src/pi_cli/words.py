"""Plain rows and sentences of texts, and truncation to a width."""

from __future__ import annotations

import re

from pi_core import clean_text, one_line
from pi_terminal_kit.words import fitting, width_of

__all__ = ["COLORS", "one_line", "plain_row", "sentences", "shorten"]

COLORS = r"\x1b\[[0-9;:]*m"
"""Escape sequences for colours and attributes (SGR)."""


def plain_row(row: object) -> str:
    """Return a row that a plugin drew as plain text on one line: without colours, with its spaces."""
    return clean_text(" ".join(re.sub(COLORS, "", str(row)).expandtabs().splitlines()))


def sentences(text: str) -> list[str]:
    """Split a text into its sentences."""
    return re.split(r"(?<=\.) (?=[A-Z])", text)


def shorten(text: str, width: int, *, mark: str = "…") -> str:
    """Return a line truncated to the width, with a mark where it was cut."""
    if width_of(text) <= width:
        return text
    return f"{text[: fitting(text, width - width_of(mark))].rstrip()}{mark}"

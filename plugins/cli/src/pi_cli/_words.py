"""How text from models, tools and users becomes one safe line: no control characters, no wider than asked.

A terminal obeys escape sequences whoever sent them; what a model or a file says must not.
"""

from __future__ import annotations

__all__ = ["VISIBLE_CONTROLS", "one_line", "shorten", "width_of"]

VISIBLE_CONTROLS = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"},
    0x0D: None,
    0x7F: 0x2421,
    **dict.fromkeys(range(128, 160), 65533),
}
"""For ``str.translate``: control characters as their pictures, but for newline and tab; returns are dropped."""


def one_line(text: str) -> str:
    """Return text as one line that shows what it contains: runs of whitespace as one space, the rest escaped."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in " ".join(text.split())
    )


def width_of(text: str) -> int:
    """Return how many columns a terminal takes for a line."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(each) else 2 if east_asian_width(each) in "WF" else 1 for each in text)


def shorten(text: str, width: int, *, mark: str = "…") -> str:
    """Return a line that fits the width: its beginning, and a mark where something was cut off."""
    if width_of(text) <= width:
        return text
    room = max(width - width_of(mark), 0)
    cut = text[:room]
    while width_of(cut) > room:
        cut = cut[:-1]
    return f"{cut.rstrip()}{mark}"

"""Cleaning of text that cannot be encoded in UTF-8: unpaired surrogates."""

from __future__ import annotations

from typing import Any

__all__ = ["WholeText", "clean_json", "clean_text"]

_DEPTH = 100
"""Nesting that JSON encoders support; deeper data would make every later request fail."""


class WholeText:
    """Joins the streamed text of a block, which some servers split within a character.

    Half a surrogate pair at the end of a piece is held back for the other half; an unpaired one is left out.
    """

    __slots__ = ("_half",)

    def __init__(self) -> None:
        self._half = ""

    def add(self, piece: str) -> str:
        """Return the complete characters; empty if there is only half of one."""
        if piece.isascii() and not self._half:
            return piece
        piece, self._half = self._half + piece, ""
        if "\ud800" <= piece[-1] <= "\udbff":
            piece, self._half = piece[:-1], piece[-1]
        return clean_text(piece)


def clean_text(text: str) -> str:
    """Return the text without unpaired surrogates; a pair split over two pieces becomes its character.

    The same object where nothing changes.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    return text


def clean_json(value: Any, depth: int = 0) -> Any:
    """Return plain data with every string clean, including keys; the same object where nothing changes.

    Objects and lists more than 100 levels down become None.
    """
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict | list | tuple) and depth >= _DEPTH:
        return None
    if isinstance(value, dict):
        if all(type(item) is str and item.isascii() and key.isascii() for key, item in value.items()):
            return value  # most arguments of calls, which every request sends again
        cleaned = {clean_text(key): clean_json(item, depth + 1) for key, item in value.items()}
        same = cleaned.keys() == value.keys() and all(cleaned[key] is item for key, item in value.items())
        return value if same else cleaned
    if isinstance(value, list | tuple):
        items = [clean_json(item, depth + 1) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    return value

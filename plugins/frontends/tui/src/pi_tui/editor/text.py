"""A text with a cursor, which is always between two clusters."""

from __future__ import annotations

from typing import NamedTuple

from pi_tui.editor.clusters import is_boundary, next_boundary

__all__ = ["Text"]


class Text(NamedTuple):
    """A text and the index of its cursor.

    Attributes:
        text: The text, where a character of ``clusters.MARKS`` represents a paste.
        cursor: Index of the character that the cursor is on; the length of the text at its end.
    """

    text: str = ""
    cursor: int = 0

    def at(self, cursor: int) -> Text:
        """Return the text with its cursor at an index, or after the cluster that contains the index."""
        cursor = min(max(cursor, 0), len(self.text))
        return Text(self.text, cursor if is_boundary(self.text, cursor) else next_boundary(self.text, cursor))

    def inserted(self, text: str) -> Text:
        """Return the text with another text inserted at the cursor, which moves behind it."""
        return Text(self.text[: self.cursor] + text + self.text[self.cursor :], self.cursor).at(self.cursor + len(text))

    def without(self, start: int, end: int) -> Text:
        """Return the text without the characters between two indices; the cursor moves to that position."""
        return Text(self.text[:start] + self.text[end:], start).at(start)

    @property
    def line_start(self) -> int:
        """Index at which the cursor's line begins."""
        return self.text.rfind("\n", 0, self.cursor) + 1

    @property
    def line_end(self) -> int:
        """Index at which the cursor's line ends."""
        end = self.text.find("\n", self.cursor)
        return len(self.text) if end < 0 else end

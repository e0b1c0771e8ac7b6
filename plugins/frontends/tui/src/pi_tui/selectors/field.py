"""A line of text that the user types in a list: a search, a name or a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Line, Run
from pi_tui.editor.clusters import clusters_of
from pi_tui.editor.press import press
from pi_tui.editor.state import Editor

if TYPE_CHECKING:
    from pi_tui.keys.bindings import Bindings
    from pi_tui.keys.events import Key

__all__ = ["Field"]

_WIDE = 10_000
"""Cells of a row that never breaks."""


class Field:
    """A text and its cursor.

    Args:
        text: The initial text.
    """

    def __init__(self, text: str = "") -> None:
        self._editor = Editor().put(" ".join(text.split())) if text else Editor()

    @property
    def text(self) -> str:
        """The typed text."""
        return self._editor.value

    def press(self, key: Key, bindings: Bindings) -> bool:
        """Edit the text; return whether it changed."""
        before = self._editor
        edited = press(before, key, bindings, width=_WIDE, page=1)
        if edited is None or "\n" in edited.text.text:
            return False
        self._editor = edited
        return edited.value != before.value

    def paste(self, text: str) -> None:
        """Insert a text; line breaks become spaces."""
        pasted = self._editor.pasted(" ".join(text.split()))
        self._editor = self._editor.edited(pasted.text)._replace(pastes=pasted.pastes)

    def line(self, width: int, prompt: str = "> ") -> Line:
        """Return the row with its cursor; for a long text, only the part around the cursor."""
        text, cursor = self._editor.text
        clusters = clusters_of(text, self._editor.labels)
        at = next((number for number, each in enumerate(clusters) if each.start >= cursor), len(clusters))
        first, room = at, width - len(prompt) - (clusters[at].cells if at < len(clusters) else 1)
        while first > 0 and clusters[first - 1].cells <= room:
            first -= 1
            room -= clusters[first].cells
        before = "".join([each.shown for each in clusters[first:at]])
        under = clusters[at].shown if at < len(clusters) else " "
        after = "".join([each.shown for each in clusters[at + 1 :]])
        return Line.of(Run(prompt, "accent"), Run(before), Run(under, reverse=True), Run(after))

"""What the text was before, and after what was undone."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pi_tui.editor.text import Text

__all__ = ["Undo"]

_STATES = 500

_CHARACTERS = 8_000_000
"""Of all states together: one of a huge text is a copy of it."""


class Undo(NamedTuple):
    """Texts to go back to, the next one last."""

    past: tuple[Text, ...] = ()
    future: tuple[Text, ...] = ()

    def recorded(self, before: Text) -> Undo:
        """Return what can be undone once a text has been changed; what was undone before can no longer be redone."""
        past = (*self.past[1 - _STATES :], before)
        characters = sum(len(each.text) for each in past)
        dropped = 0
        while characters > _CHARACTERS and dropped < len(past) - 1:
            characters -= len(past[dropped].text)
            dropped += 1
        return Undo(past[dropped:])

    def undone(self, now: Text) -> tuple[Undo, Text] | None:
        """Return what can be undone then, and the text before the last change; None if there is none."""
        if not self.past:
            return None
        return Undo(self.past[:-1], (*self.future, now)), self.past[-1]

    def redone(self, now: Text) -> tuple[Undo, Text] | None:
        """Return what can be undone then, and the text before it was undone; None if nothing was."""
        if not self.future:
            return None
        return Undo((*self.past, now), self.future[:-1]), self.future[-1]

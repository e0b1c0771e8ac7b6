"""Undo and redo: earlier states of a text, and states that were undone."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pi_tui.editor.text import Text

__all__ = ["Undo"]

_STATES = 500

_CHARACTERS = 8_000_000
"""Maximum characters of all states together; each state contains a copy of the text."""


class Undo(NamedTuple):
    """The states that can be undone and redone; in both tuples, the next state to restore is the last."""

    past: tuple[Text, ...] = ()
    future: tuple[Text, ...] = ()

    def recorded(self, before: Text) -> Undo:
        """Return the stack after a text was changed; changes that were undone before can no longer be redone."""
        past = (*self.past[1 - _STATES :], before)
        characters = sum(len(each.text) for each in past)
        dropped = 0
        while characters > _CHARACTERS and dropped < len(past) - 1:
            characters -= len(past[dropped].text)
            dropped += 1
        return Undo(past[dropped:])

    def undone(self, now: Text) -> tuple[Undo, Text] | None:
        """Return the stack after undoing, and the text before the last change; None if there is none."""
        if not self.past:
            return None
        return Undo(self.past[:-1], (*self.future, now)), self.past[-1]

    def redone(self, now: Text) -> tuple[Undo, Text] | None:
        """Return the stack after redoing, and the text before the last undo; None if there is none."""
        if not self.future:
            return None
        return Undo((*self.past, now), self.future[:-1]), self.future[-1]

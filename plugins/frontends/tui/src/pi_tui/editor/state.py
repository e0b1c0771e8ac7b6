"""The editor's state as one value: text, undo stack, kill ring, pastes and history."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from pi_tui.editor.clean import cleaned, cleaned_paste
from pi_tui.editor.history import History
from pi_tui.editor.moves import jump
from pi_tui.editor.paste_marks import Pastes, is_long
from pi_tui.editor.text import Text
from pi_tui.editor.wrap import Labels, Place, Row, place_of, wrap

__all__ = ["Editor", "KillRing", "Last", "Undo"]

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


_KEPT = 60


class KillRing(NamedTuple):
    """Deleted texts.

    Attributes:
        texts: The deleted texts, the newest last.
    """

    texts: tuple[str, ...] = ()

    def pushed(self, text: str, *, joined: Literal["before", "after"] | None = None) -> KillRing:
        """Return the ring with another text.

        Args:
            text: The deleted text.
            joined: The position relative to the newest text, if the deletion directly followed; the text is then
                joined to it.
        """
        if not text:
            return self
        if joined is None or not self.texts:
            return KillRing((*self.texts[1 - _KEPT :], text))
        newest = text + self.texts[-1] if joined == "before" else self.texts[-1] + text
        return KillRing((*self.texts[:-1], newest))

    @property
    def newest(self) -> str:
        """The most recently deleted text; empty if there is none."""
        return self.texts[-1] if self.texts else ""

    def rotated(self) -> KillRing:
        """Return the ring with the newest text moved to the oldest position."""
        return KillRing((*self.texts[-1:], *self.texts[:-1]))


Last: TypeAlias = Literal["", "type", "kill", "yank"]
"""The kind of the last edit, if it affects the next one."""


class Editor(NamedTuple):
    """The state of an editor. Methods return a changed copy.

    Attributes:
        text: The text and its cursor; a long paste is represented by one character.
        undo: The changes that can be undone and redone.
        ring: Deleted texts.
        pastes: Long pastes.
        history: The texts that were sent.
        last: The kind of the last edit.
        yanked: Index at which the text inserted from the ring begins.
        goal: The goal column of vertical moves; None if there were none.
        jumping: After a jump has begun, the direction in which the next typed character is searched.
    """

    text: Text = Text()
    undo: Undo = Undo()
    ring: KillRing = KillRing()
    pastes: Pastes = Pastes()
    history: History = History()
    last: Last = ""
    yanked: int = 0
    goal: int | None = None
    jumping: Literal["", "forward", "backward"] = ""

    @property
    def value(self) -> str:
        """The text as it is sent, including pasted texts."""
        return self.pastes.expanded(self.text.text)

    @property
    def labels(self) -> Labels:
        """The text that is drawn for each paste."""
        return self.pastes.labels

    def rows(self, width: int) -> tuple[list[Row], Place]:
        """Return the rows for a width, and the position of the cursor."""
        rows = wrap(self.text.text, width, self.labels)
        return rows, place_of(self.text.text, rows, self.text.cursor, width, self.labels)

    def moved(self, cursor: int, goal: int | None = None) -> Editor:
        """Return the editor with its cursor at an index."""
        return self._replace(text=self.text.at(cursor), last="", goal=goal, jumping="")

    def edited(self, text: Text, last: Last = "") -> Editor:
        """Return the editor with a changed text, which can be undone."""
        return self._replace(text=text, undo=self.undo.recorded(self.text), last=last, goal=None, jumping="")

    def typed(self, text: str) -> Editor:
        """Return the editor after typing a text; if a jump has begun, move to the text instead of inserting it.

        Undo removes a whole word with the spaces before it.
        """
        text = cleaned(text)
        if not text:
            return self
        if self.jumping:
            found = jump(self.text, text, forward=self.jumping == "forward")
            return self.moved(self.text.cursor if found is None else found)
        before = self.text.text[: self.text.cursor]
        begins_word = text.isspace() and not before[-1:].isspace()
        if self.last == "type" and not begins_word:
            return self._replace(text=self.text.inserted(text))
        return self.edited(self.text.inserted(text), "type")

    def pasted(self, text: str) -> Editor:
        """Return the editor after a paste, given as the terminal sent it; a long paste becomes a mark."""
        text = cleaned_paste(text)
        if not text:
            return self
        if not is_long(text):
            return self.edited(self.text.inserted(text))
        pastes, mark = self.pastes.added(text)
        return self.edited(self.text.inserted(mark))._replace(pastes=pastes)

    def put(self, text: str) -> Editor:
        """Return the editor with another text, in which unchanged pastes become marks; the change can be undone."""
        text = self.pastes.folded(cleaned(text))
        return self if text == self.text.text else self.edited(Text(text, len(text)))

    def replaced(self, start: int, end: int, text: str) -> Editor:
        """Return the editor with a part of its text replaced, for example by a completion; the cursor is after it."""
        return self.edited(self.text.without(start, end).inserted(cleaned(text)))

    def killed(self, start: int, end: int) -> Editor:
        """Return the editor without a part of its text before or after the cursor; the kill ring keeps that part."""
        if start == end:
            return self
        joined: Literal["before", "after"] = "before" if end == self.text.cursor else "after"
        ring = self.ring.pushed(self.text.text[start:end], joined=joined if self.last == "kill" else None)
        return self.edited(self.text.without(start, end), "kill")._replace(ring=ring)

    def yanked_again(self) -> Editor:
        """Return the editor with the deleted text that was just inserted replaced by an older one."""
        if self.last != "yank" or len(self.ring.texts) < 2:  # noqa: PLR2004
            return self
        ring = self.ring.rotated()
        end = self.yanked + len(self.ring.newest)
        text = self.text.without(self.yanked, end).inserted(ring.newest)
        return self.edited(text, "yank")._replace(ring=ring)

    def yank(self) -> Editor:
        """Return the editor with the newest deleted text at the cursor."""
        if not self.ring.newest:
            return self
        return self.edited(self.text.inserted(self.ring.newest), "yank")._replace(yanked=self.text.cursor)

    def undone(self) -> Editor:
        """Return the editor before the last change."""
        return self._restored(self.undo.undone(self.text))

    def redone(self) -> Editor:
        """Return the editor before the last change was undone."""
        return self._restored(self.undo.redone(self.text))

    def recalled(self, by: int) -> Editor | None:
        """Return the editor with the previous (``by`` 1) or next (-1) text of the history; None if there is none."""
        found = self.history.shifted(self.text, by)
        if found is None:
            return None
        history, text = found
        return self._replace(history=history, text=text, undo=Undo(), last="", goal=None, jumping="")

    def sent(self) -> tuple[Editor, str]:
        """Return an emptied editor with the text added to its history, and the text to send."""
        value = self.value
        pastes = self.pastes.kept(self.ring.texts)
        return Editor(ring=self.ring, pastes=pastes, history=self.history.added(value)), value

    def cleared(self) -> Editor:
        """Return the editor without its text, which can be undone."""
        return self.edited(Text()) if self.text.text else self

    def _restored(self, found: tuple[Undo, Text] | None) -> Editor:
        if found is None:
            return self
        undo, text = found
        return self._replace(undo=undo, text=text, last="", goal=None, jumping="")

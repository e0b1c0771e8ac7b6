"""The editor: a text, what can be undone, deleted texts, pastes and the history, as one value."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from pi_tui.editor.clean import cleaned, cleaned_paste
from pi_tui.editor.history import History
from pi_tui.editor.kill_ring import KillRing
from pi_tui.editor.moves import jump
from pi_tui.editor.paste_marks import Pastes, is_long
from pi_tui.editor.text import Text
from pi_tui.editor.undo import Undo
from pi_tui.editor.wrap import Labels, Place, Row, place_of, wrap

__all__ = ["Editor", "Last"]

Last: TypeAlias = Literal["", "type", "kill", "yank"]
"""What was done last, where that decides what the next edit does."""


class Editor(NamedTuple):
    """An editor's state. Every method returns a changed one.

    Attributes:
        text: The text and its cursor; a long paste is one character of it.
        undo: What can be undone.
        ring: Deleted texts.
        pastes: Long pastes.
        history: What was sent before.
        last: What was done last.
        yanked: Where the text begins that was inserted from the ring.
        goal: The column that moves up and down keep to.
        jumping: Which way the next typed character is looked for, after a jump was begun.
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
        """The text as it is sent: with what was pasted."""
        return self.pastes.expanded(self.text.text)

    @property
    def labels(self) -> Labels:
        """What is drawn for each paste."""
        return self.pastes.labels

    def rows(self, width: int) -> tuple[list[Row], Place]:
        """Return what is drawn in a width, and where the cursor is."""
        rows = wrap(self.text.text, width, self.labels)
        return rows, place_of(self.text.text, rows, self.text.cursor, width, self.labels)

    def moved(self, cursor: int, goal: int | None = None) -> Editor:
        """Return the editor with its cursor at an index."""
        return self._replace(text=self.text.at(cursor), last="", goal=goal, jumping="")

    def edited(self, text: Text, last: Last = "") -> Editor:
        """Return the editor with a changed text, which can be undone."""
        return self._replace(text=text, undo=self.undo.recorded(self.text), last=last, goal=None, jumping="")

    def typed(self, text: str) -> Editor:
        """Return the editor after a text was typed, or the cursor where it is, if a jump was begun.

        A word is undone at once, with the spaces before it.
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
        """Return the editor after a paste, as the terminal sent it; a long one becomes a mark."""
        text = cleaned_paste(text)
        if not text:
            return self
        if not is_long(text):
            return self.edited(self.text.inserted(text))
        pastes, mark = self.pastes.added(text)
        return self.edited(self.text.inserted(mark))._replace(pastes=pastes)

    def put(self, text: str) -> Editor:
        """Return the editor with another text, where a paste that it holds unchanged is a mark; it can be undone."""
        text = self.pastes.folded(cleaned(text))
        return self if text == self.text.text else self.edited(Text(text, len(text)))

    def replaced(self, start: int, end: int, text: str) -> Editor:
        """Return the editor with a text in place of a part of its own, such as a completion; the cursor is after it."""
        return self.edited(self.text.without(start, end).inserted(cleaned(text)))

    def killed(self, start: int, end: int) -> Editor:
        """Return the editor without a part of its text, before or after the cursor, which the ring keeps."""
        if start == end:
            return self
        joined: Literal["before", "after"] = "before" if end == self.text.cursor else "after"
        ring = self.ring.pushed(self.text.text[start:end], joined=joined if self.last == "kill" else None)
        return self.edited(self.text.without(start, end), "kill")._replace(ring=ring)

    def yanked_again(self) -> Editor:
        """Return the editor with an older deleted text in place of the one that was just inserted."""
        if self.last != "yank" or len(self.ring.texts) < 2:  # noqa: PLR2004
            return self
        ring = self.ring.rotated()
        end = self.yanked + len(self.ring.newest)
        text = self.text.without(self.yanked, end).inserted(ring.newest)
        return self._replace(text=text, ring=ring)

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
        """Return the editor with the text that was sent before, ``by`` 1, or after it, -1; None if there is none."""
        found = self.history.shifted(self.text, by)
        if found is None:
            return None
        history, text = found
        return self._replace(history=history, text=text, undo=Undo(), last="", goal=None, jumping="")

    def sent(self) -> tuple[Editor, str]:
        """Return an empty editor, whose history has what was sent, and that."""
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

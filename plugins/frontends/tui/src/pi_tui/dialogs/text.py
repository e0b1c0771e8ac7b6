"""A dialog for typing a text: one line, a secret, or several lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Line, Run
from pi_tui.dialogs.base import Dialog, framed, heading, hint
from pi_tui.editor.press import press
from pi_tui.editor.state import Editor
from pi_tui.lines.typed import text_row
from pi_tui.view.clean import clean_line

if TYPE_CHECKING:
    from pi_tui.keys.bindings import Bindings
    from pi_tui.keys.events import Key

__all__ = ["TextDialog"]

_AROUND = 4


class TextDialog(Dialog[str]):
    """Asks the user to type a text.

    Args:
        title: The question.
        placeholder: Displayed while the text is empty.
        prefill: The initial text.
        several: Whether the text may have several lines.
        secret: Whether the text is displayed as dots, and never stored.
    """

    def __init__(
        self, title: str, *, placeholder: str = "", prefill: str = "", several: bool = False, secret: bool = False
    ) -> None:
        super().__init__()
        self._title, self._placeholder = title, placeholder
        self._several, self._secret = several, secret
        self._editor = Editor().put(prefill) if prefill else Editor()
        self._width = 80
        self._hints = [
            ("Enter", "to submit"),
            *([("Shift+Enter", "for a new line")] if several else []),
            ("Escape", "to cancel"),
        ]

    def lines(self, width: int, height: int) -> list[Line]:
        """Return the title and the text with the cursor."""
        self._width = max(width - 3, 1)
        head = heading(self._title, "", width)[: max(height - _AROUND - 1, 1)]
        editor = self._editor
        if self._secret:
            editor = Editor().put("•" * len(editor.text.text)).moved(editor.text.cursor)
        if not editor.text.text and self._placeholder:
            text = clean_line(self._placeholder)[: self._width]
            body = [Line.of(Run("> ", "accent"), Run(" ", reverse=True), Run(text, "muted"))]
        else:
            rows, place = editor.rows(self._width)
            room = max(height - len(head) - _AROUND, 1)
            first = min(max(place.row - room + 1, 0), max(len(rows) - room, 0))
            body = [
                Line((Run("> " if first + number == 0 else "  ", "accent"), *text_row(row, cursor)))
                for number, row in enumerate(rows[first : first + room])
                for cursor in [place.cell if first + number == place.row else None]
            ]
        return framed([*head, *body, *hint(self._hints, width)], width)

    def key(self, key: Key, bindings: Bindings) -> None:
        """Edit, submit or dismiss the text."""
        if "tui.select.cancel" in bindings.actions(key.name, "list"):
            self.finish(None)
        elif "tui.input.submit" in bindings.actions(key.name, "main"):
            self.finish(self._editor.value)
        else:
            edited = press(self._editor, key, bindings, width=self._width, page=10)
            if edited is not None and (self._several or "\n" not in edited.text.text):
                self._editor = edited

    def paste(self, text: str) -> None:
        """Insert a text; a dialog for a single line turns its line breaks into spaces."""
        self._editor = self._editor.pasted(text if self._several else " ".join(text.split()))

"""The history of sent texts. Edits of recalled texts and an unsent text are kept until something is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pi_tui.editor.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["History"]


class History(NamedTuple):
    """The sent texts, and which of them is displayed.

    Attributes:
        sent: The sent texts, the oldest first.
        back: Position of the displayed text, counted back from the unsent text, which is 0.
        left: The state of texts when the user moved on to another one, by their position.
    """

    sent: tuple[str, ...] = ()
    back: int = 0
    left: Mapping[int, Text] = {}

    @classmethod
    def of(cls, sent: Iterable[str]) -> History:
        """Return the history of the given texts, the oldest first; consecutive equal texts count once."""
        history = cls()
        for text in sent:
            history = history.added(text)
        return history

    def added(self, text: str) -> History:
        """Return the history after another text was sent; edits of recalled texts are dropped."""
        repeated = bool(self.sent) and self.sent[-1] == text
        return History(self.sent if repeated or not text.strip() else (*self.sent, text))

    def shifted(self, now: Text, by: int) -> tuple[History, Text] | None:
        """Return the history with another text displayed, and that text; None at the end of the history.

        Args:
            now: The text that is displayed now.
            by: 1 for the previous text, -1 for the next one.
        """
        back = self.back + by
        if not 0 <= back <= len(self.sent):
            return None
        text = self.left.get(back) or Text(self.sent[-back] if back else "")
        cursor = 0 if by > 0 else len(text.text)
        return History(self.sent, back, {**self.left, self.back: now}), Text(text.text, cursor)

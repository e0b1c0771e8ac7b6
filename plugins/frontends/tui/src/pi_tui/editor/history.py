"""What was sent before, to be sent again. Changes to it and an unsent text stay until something is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pi_tui.editor.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["History"]


class History(NamedTuple):
    """What was sent, and which of it is displayed.

    Attributes:
        sent: The oldest first.
        back: How far back the text is that is displayed; 0 for the one that is not sent yet.
        left: Texts that were left behind when another one was displayed, by how far back they are.
    """

    sent: tuple[str, ...] = ()
    back: int = 0
    left: Mapping[int, Text] = {}

    @classmethod
    def of(cls, sent: Iterable[str]) -> History:
        """Return the history of what was sent, the oldest first; what was sent twice in a row counts once."""
        history = cls()
        for text in sent:
            history = history.added(text)
        return history

    def added(self, text: str) -> History:
        """Return the history after another text was sent; what was changed in it is forgotten."""
        repeated = bool(self.sent) and self.sent[-1] == text
        return History(self.sent if repeated or not text.strip() else (*self.sent, text))

    def shifted(self, now: Text, by: int) -> tuple[History, Text] | None:
        """Return the history with another text displayed, and that text; None if there is none so far back, or forward.

        Args:
            now: The text that is displayed now.
            by: 1 for the one before it, -1 for the one after it.
        """
        back = self.back + by
        if not 0 <= back <= len(self.sent):
            return None
        text = self.left.get(back) or Text(self.sent[-back] if back else "")
        cursor = 0 if by > 0 else len(text.text)
        return History(self.sent, back, {**self.left, self.back: now}), Text(text.text, cursor)

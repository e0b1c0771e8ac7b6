"""A question that is answered with yes or no."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_tui.dialogs.select import Select

if TYPE_CHECKING:
    from pi_tui.keys.bindings import Bindings
    from pi_tui.keys.events import Key

__all__ = ["Confirm"]

YES, NO = "Yes", "No"


class Confirm(Select):
    """Asks yes or no; ``y`` and ``n`` answer at once.

    Args:
        title: The question.
        message: An explanation.
    """

    def __init__(self, title: str, message: str = "") -> None:
        super().__init__(title, [YES, NO], message=message)

    def key(self, key: Key, bindings: Bindings) -> None:
        """Handle the answer keys, then the keys of a list."""
        if key.text.lower() in ("y", "n"):
            self.finish(YES if key.text.lower() == "y" else NO)
        else:
            super().key(key, bindings)

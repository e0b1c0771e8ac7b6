"""A list as a dialog: it draws the rows, passes keys on, and leaves the outcomes to the caller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_tui.dialogs.base import Dialog
from pi_tui.selectors.selector import Cancelled, Chosen

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs import Line
    from pi_tui.keys.bindings import Bindings
    from pi_tui.keys.events import Key
    from pi_tui.selectors.selector import Outcome, Selector

__all__ = ["Listed"]


class Listed(Dialog[Any]):
    """Displays a list until an outcome closes it; that outcome is the result.

    Args:
        selector: The list.
        bindings: The key bindings, for the hints.
        closed_by: Outcomes that close it besides ``Chosen``.
        carry_out: Called with any other outcome; the list stays open.
    """

    def __init__(
        self,
        selector: Selector[Any],
        bindings: Bindings,
        *closed_by: type,
        carry_out: Callable[[Outcome], object] = bool,
    ) -> None:
        super().__init__()
        self._selector, self._bindings = selector, bindings
        self._closed_by = (Chosen, *closed_by)
        self._carry_out = carry_out

    def lines(self, width: int, height: int) -> list[Line]:
        """Return the rows of the list."""
        return self._selector.lines(width, height, self._bindings)

    def key(self, key: Key, bindings: Bindings) -> None:
        """Pass a key to the list."""
        outcome = self._selector.press(key, bindings)
        if isinstance(outcome, Cancelled):
            self.finish(None)
        elif isinstance(outcome, self._closed_by):
            self.finish(outcome)
        elif outcome is not None:
            self._carry_out(outcome)

    def paste(self, text: str) -> None:
        """Pass a pasted text to the list."""
        self._selector.paste(text)

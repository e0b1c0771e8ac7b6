"""A text in place of the editor that scrolls, such as the list of keys; nothing of it stays when it is closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Line, Run
from pi_tui.dialogs.base import Dialog, framed
from pi_tui.lines.line import cells, cut
from pi_tui.selectors.selector import drawn_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_hookspecs import MouseEvent
    from pi_tui.keys.bindings import Bindings
    from pi_tui.keys.events import Key

__all__ = ["Pane"]

_AROUND = 3
"""Rows for the rules and the hints."""

_WHEEL = 3
"""Rows for a step of the mouse's wheel."""


class Pane(Dialog[None]):
    """Displays rows, from the first one, until the user closes it.

    Args:
        draw: Returns all rows for a width.
        bindings: The key bindings, for the hints.
    """

    is_tall = True

    def __init__(self, draw: Callable[[int], Sequence[Line]], bindings: Bindings) -> None:
        super().__init__()
        self._draw = draw
        self._bindings = bindings
        self._width = 0
        self._rows: list[Line] = []
        self._first, self._room = 0, 1

    def lines(self, width: int, height: int) -> list[Line]:
        """Return the visible rows between two rules, and a row that says where they are and what the keys do."""
        if width != self._width:
            self._width, self._rows = width, [*self._draw(max(width, 1))]
        self._room = max(height - _AROUND, 1)
        self._scroll(0)
        rows = self._rows[self._first : self._first + self._room]
        return framed([*(cut(row, width) for row in rows), self._foot(width)], width)

    def _foot(self, width: int) -> Line:
        """Return where the rows are and what the keys do; on a narrow screen at least how the pane is closed."""
        close = f"{drawn_keys(self._bindings, 'tui.select.cancel')} to close"
        texts = [close]
        last = min(self._first + self._room, len(self._rows))
        if last - self._first < len(self._rows):
            place = f"({self._first + 1}-{last}/{len(self._rows)})  "
            scroll = f"{drawn_keys(self._bindings, 'tui.select.up', 'tui.select.down')} to scroll · "
            texts = [f"{place}{scroll}{close}", f"{place}{close}", close]
        text = next((each for each in texts if cells(each) < width), close)
        return cut(Line.of(Run(f" {text}", "muted")), width)

    def key(self, key: Key, bindings: Bindings) -> None:
        """Scroll, or close the pane."""
        actions = (*bindings.actions(key.name, "list"), *bindings.actions(key.name, "main"))
        if key.action == "release":
            return
        if "tui.select.cancel" in actions or "tui.select.confirm" in actions:
            self.finish(None)
        page = max(self._room - 1, 1)
        steps = {
            "tui.select.up": -1,
            "tui.select.down": 1,
            "tui.select.pageUp": -page,
            "tui.select.pageDown": page,
            "tui.altScreen.top": -len(self._rows),
            "tui.altScreen.bottom": len(self._rows),
        }
        self._scroll(next((steps[action] for action in actions if action in steps), 0))

    def mouse(self, event: MouseEvent) -> bool:
        """Scroll by a step of the wheel."""
        if event.kind not in ("scroll_up", "scroll_down"):
            return False
        self._scroll(-_WHEEL if event.kind == "scroll_up" else _WHEEL)
        return True

    def _scroll(self, by: int) -> None:
        self._first = max(min(self._first + by, len(self._rows) - self._room), 0)

"""The pane of the conversation: one widget, which asks for the visible rows when it is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Size
from textual.widget import Widget

from pi_hookspecs import Line
from pi_tui.screen.anchor import Anchor
from pi_tui.screen.differences import changed_cells
from pi_tui.screen.scrollbar import with_jump, with_scrollbar

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events
    from textual.geometry import Region
    from textual.strip import Strip

    from pi_tui.lines.look import Look
    from pi_tui.screen.strips import Painter
    from pi_tui.view.state import State

__all__ = ["Transcript"]

_WHEEL = 3
"""Rows of a step of the mouse's wheel."""


class Transcript(Widget):
    """Draws the blocks that meet the view.

    Args:
        state: What there is to see.
        painter: Draws lines.
        look: Returns how blocks look in a width.
        hint: Returns the key that leads to the end.
    """

    def __init__(self, state: State, painter: Painter, look: Callable[[int], Look], hint: Callable[[], str]) -> None:
        super().__init__(id="transcript")
        self.painter = painter
        self.anchored = Anchor(state)
        self._look_of = look
        self._hint_of = hint
        self._drawn: tuple[Size, list[Line]] = Size(0, 0), []

    @property
    def _room(self) -> tuple[int, Look]:
        return max(self.size.height, 1), self._look_of(max(self.size.width, 1))

    @property
    def painted(self) -> list[Line]:
        """The rows that are visible."""
        return self._drawn[1]

    def update_rows(self) -> None:
        """Draw the rows that have changed."""
        size, before = self._drawn
        if size != self.size:
            self.draw_again()
            return
        self._drawn = size, self._visible()
        changed = changed_cells(before, self._drawn[1], size.width)
        if changed:
            self.refresh(*changed)

    def draw_again(self) -> None:
        """Draw all rows."""
        self._drawn = self.size, self._visible()
        self.refresh()

    def scroll_rows(self, by: int) -> None:
        """Scroll by some rows, up where negative."""
        self.anchored.scroll(by, *self._room)
        self.update_rows()

    def scroll_pages(self, by: float) -> None:
        """Scroll by pages, of which two rows stay visible."""
        self.scroll_rows(round(by * max(self.size.height - 2, 1)))

    def show_top(self) -> None:
        """Scroll to the beginning."""
        self.anchored.to_top(*self._room)
        self.update_rows()

    def show_end(self) -> None:
        """Scroll to the end, and follow it."""
        self.anchored.to_end()
        self.update_rows()

    def show_prompt(self, step: int) -> None:
        """Scroll to the previous message of the user, or to the next one."""
        self.anchored.to_prompt(step, *self._room)
        self.update_rows()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the strips of a part of the widget."""
        if self.size != self._drawn[0]:  # else other rows would be known as drawn that are not asked for here
            self._drawn = self.size, self._visible()
        return self.painter.strips(self._drawn[1], crop, self.size.width)

    def _visible(self) -> list[Line]:
        height, look = self._room
        rows = self.anchored.visible(height, look)
        if self.anchored.follows:
            return rows
        rows += [Line()] * (height - len(rows))
        rows = with_scrollbar(rows, look.width, *self.anchored.share(height, look))
        return with_jump(rows, look.width, self._hint_of())

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll up."""
        event.stop()
        self.scroll_rows(-_WHEEL)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll down."""
        event.stop()
        self.scroll_rows(_WHEEL)

    def on_click(self, event: events.Click) -> None:
        """Follow the end again, where the row that offers it was clicked."""
        if not self.anchored.follows and event.y == self.size.height - 1:
            event.stop()
            self.show_end()

"""The pane of the conversation: one widget, which asks for the visible rows when it is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Size
from textual.widget import Widget

from pi_hookspecs import Line
from pi_tui.screen.anchor import Anchor
from pi_tui.screen.differences import changed_cells
from pi_tui.screen.pointing import Pointing
from pi_tui.screen.scrollbar import with_jump, with_scrollbar
from pi_tui.screen.search import Search
from pi_tui.screen.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events
    from textual.geometry import Region
    from textual.strip import Strip

    from pi_tui.lines.look import Look
    from pi_tui.screen.anchor import Place
    from pi_tui.screen.strips import Painter
    from pi_tui.view.state import State

__all__ = ["Transcript"]


class Transcript(Widget):
    """Draws the blocks that meet the view.

    Args:
        state: What there is to see.
        painter: Draws lines.
        look: Returns how blocks look in a width.
        hint: Returns the key that leads to the end.
        selected: Called when something was selected with the mouse.

    Attributes:
        selection: What is selected.
        search: The open search.
    """

    def __init__(
        self,
        state: State,
        painter: Painter,
        look: Callable[[int], Look],
        hint: Callable[[], str],
        selected: Callable[[], object],
    ) -> None:
        super().__init__(id="transcript")
        self.painter = painter
        self.anchored = Anchor(state)
        self.selection = Selection(self.anchored)
        self.search: Search | None = None
        self.pointing = Pointing(self, selected)
        self._state = state
        self._look_of = look
        self._hint_of = hint
        self._drawn: tuple[Size, list[Line]] = Size(0, 0), []

    @property
    def room(self) -> tuple[int, Look]:
        """How many rows are visible, and how blocks look in them."""
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
        self.anchored.scroll(by, *self.room)
        self.update_rows()

    def scroll_pages(self, by: float) -> None:
        """Scroll by pages, of which two rows stay visible."""
        self.scroll_rows(round(by * max(self.size.height - 2, 1)))

    def show_top(self) -> None:
        """Scroll to the beginning."""
        self.anchored.to_top(*self.room)
        self.update_rows()

    def show_end(self) -> None:
        """Scroll to the end, and follow it."""
        self.anchored.to_end()
        self.update_rows()

    def show_prompt(self, step: int) -> None:
        """Scroll to the previous message of the user, or to the next one."""
        self.anchored.to_prompt(step, *self.room)
        self.update_rows()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the strips of a part of the widget."""
        if self.size != self._drawn[0]:  # else other rows would be known as drawn that are not asked for here
            self._drawn = self.size, self._visible()
        return self.painter.strips(self._drawn[1], crop, self.size.width)

    def _visible(self) -> list[Line]:
        height, look = self.room
        rows = self._marked(self.anchored.visible(height, look), height, look)
        if self.anchored.follows:
            return rows
        rows += [Line()] * (height - len(rows))
        rows = with_scrollbar(rows, look.width, *self.anchored.share(height, look))
        return with_jump(rows, look.width, self._hint_of())

    def _marked(self, rows: list[Line], height: int, look: Look) -> list[Line]:
        """Return rows with what is selected, and with what was found."""
        if not self.selection and self.search is None:
            return rows
        places = self.anchored.places(height, look)
        rows = self.selection.marked(rows, places)
        return rows if self.search is None else self.search.marked(rows, places, look)

    # Search

    def open_search(self) -> None:
        """Search; the keys are the search's from now on."""
        self.search = self.search or Search(self._state, self.anchored)
        self.update_rows()

    def close_search(self) -> None:
        """Search no more; what was found stays where it is."""
        self.search = None
        self.update_rows()

    # The mouse

    def place_at(self, y: int) -> Place | None:
        """Return which row of which block is displayed at a row of the widget; None for none."""
        places = self.anchored.places(*self.room)
        return places[y] if 0 <= y < len(places) else None

    def kind_of(self, block_id: str) -> str:
        """Return the kind of a block; empty for the header."""
        index = self.anchored.index(block_id)
        return self._state.blocks[index - 1].kind if index else ""

    def scroll_to_share(self, y: int) -> None:
        """Scroll to where a row of the scrollbar leads."""
        height, look = self.room
        self.anchored.to_share(min(max(y / height, 0.0), 1.0), height, look)
        self.update_rows()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Begin to select."""
        self.pointing.press(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Select."""
        self.pointing.move(event)

    def on_mouse_up(self) -> None:
        """End to select."""
        self.pointing.release()

    def on_click(self, event: events.Click) -> None:
        """Expand, or select a word or a line."""
        event.stop()
        self.pointing.click(event)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll up."""
        event.stop()
        self.pointing.wheel(-1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll down."""
        event.stop()
        self.pointing.wheel(1)

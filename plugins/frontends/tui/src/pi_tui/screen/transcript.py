"""The pane of the conversation: a single widget with a scrollbar, which lays out only the visible rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Offset, Size
from textual.widget import Widget

from pi_hookspecs import Line, Run
from pi_tui.lines.line import cells, cut, cut_text
from pi_tui.screen.anchor import Anchor
from pi_tui.screen.differences import changed_cells
from pi_tui.screen.pointing import Pointing
from pi_tui.screen.search import Search
from pi_tui.screen.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual import events
    from textual.geometry import Region
    from textual.strip import Strip

    from pi_tui.lines.look import Look
    from pi_tui.screen.anchor import Place
    from pi_tui.screen.strips import Painter
    from pi_tui.view.state import State

__all__ = ["Transcript", "with_jump", "with_scrollbar"]

_ROOMY = 10
"""Rows from which on one stays blank between the conversation and the rule of the editor."""


class Transcript(Widget):
    """Draws the visible part of the conversation.

    Args:
        state: The state with the conversation.
        painter: Draws lines.
        look: Returns the current appearance of blocks for a width.
        hint: Returns the name of the key that jumps to the end.
        selected: Called after the user has selected something with the mouse.
        scrollbar: Returns the setting ``fullscreenScrollbar``.

    Attributes:
        anchored: The visible rows.
        selection: The selection.
        search: The open search; None if no search is open.
        pointing: Handles the mouse.
    """

    def __init__(
        self,
        state: State,
        painter: Painter,
        look: Callable[[int], Look],
        hint: Callable[[], str],
        selected: Callable[[], object],
        *,
        scrollbar: Callable[[], str] = lambda: "auto",
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
        self._scrollbar = scrollbar
        self._drawn: tuple[Size, list[Line]] = Size(0, 0), []

    @property
    def room(self) -> tuple[int, Look]:
        """The number of visible rows, and the appearance of blocks."""
        gap = 1 if self.size.height >= _ROOMY else 0
        return max(self.size.height - gap, 1), self._look_of(max(self.size.width, 1))

    @property
    def painted(self) -> list[Line]:
        """The visible rows as last drawn."""
        return self._drawn[1]

    @property
    def has_scrollbar(self) -> bool:
        """Whether the last column is a scrollbar now."""
        wanted = self._scrollbar()
        return wanted == "always" or (wanted != "hidden" and not self.anchored.follows)

    def update_rows(self) -> None:
        """Redraw the cells that have changed."""
        size, before = self._drawn
        if size != self.size:
            self.draw_again()
            return
        self._drawn = size, self._visible()
        changed = changed_cells(before, self._drawn[1], size.width)
        if changed:
            self.refresh(*changed)

    def draw_again(self) -> None:
        """Redraw all rows."""
        self._drawn = self.size, self._visible()
        self.refresh()

    def scroll_rows(self, by: int) -> None:
        """Scroll by some rows, up if negative."""
        self.anchored.scroll(by, *self.room)
        self.update_rows()

    def scroll_pages(self, by: float) -> None:
        """Scroll by pages, up if negative; a page is two rows shorter than the pane."""
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
        """Scroll to the user's previous message (-1) or next message (1)."""
        self.anchored.to_prompt(step, *self.room)
        self.update_rows()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the strips of a part of the widget."""
        if self.size != self._drawn[0]:  # otherwise, changed rows outside the region would count as drawn
            self._drawn = self.size, self._visible()
        if self.search is not None:  # input methods display their composed text at the terminal's cursor
            self.app.cursor_position = self.region.offset + Offset(self.search.cursor, 0)
        return self.painter.strips(self._drawn[1], crop, self.size.width)

    def _visible(self) -> list[Line]:
        height, look = self.room
        rows = self._marked(self.anchored.visible(height, look), height, look)
        if self.has_scrollbar:
            rows += [Line()] * (height - len(rows))
            rows = with_scrollbar(rows, look.width, *self.anchored.share(height, look))
        if self.anchored.follows:
            return rows
        rows += [Line()] * (height - len(rows))
        return with_jump(rows, look.width, self._hint_of())

    def _marked(self, rows: list[Line], height: int, look: Look) -> list[Line]:
        """Return the rows with the selection and the matches of the search marked."""
        if not self.selection and self.search is None:
            return rows
        places = self.anchored.places(height, look)
        rows = self.selection.marked(rows, places)
        return rows if self.search is None else self.search.marked(rows, places, look)

    # Search

    def open_search(self) -> None:
        """Open the search, which receives the keys until it is closed."""
        self.search = self.search or Search(self._state, self.anchored)
        self.update_rows()

    def close_search(self) -> None:
        """Close the search without scrolling."""
        self.search = None
        self.update_rows()

    # The mouse

    def place_at(self, y: int) -> Place | None:
        """Return the place that a row of the widget displays; None below the last row of the conversation."""
        places = self.anchored.places(*self.room)
        return places[y] if 0 <= y < len(places) else None

    def kind_of(self, block_id: str) -> str:
        """Return the kind of a block; empty for the header."""
        index = self.anchored.index(block_id)
        return self._state.blocks[index - 1].kind if index else ""

    def scroll_to_share(self, y: int) -> None:
        """Scroll to the position that a row of the scrollbar represents."""
        height, look = self.room
        self.anchored.to_share(min(max(y / height, 0.0), 1.0), height, look)
        self.update_rows()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Start a selection or a drag of the scrollbar."""
        self.pointing.press(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Continue the current drag."""
        self.pointing.move(event)

    def on_mouse_up(self) -> None:
        """End the current drag."""
        self.pointing.release()

    def on_click(self, event: events.Click) -> None:
        """Jump to the end, expand a block, or select a word or a line."""
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


def with_scrollbar(rows: Sequence[Line], width: int, begin: float, end: float) -> list[Line]:
    """Return rows with a scrollbar in their last cell, whose thumb lies between two fractions of the height."""
    first = min(int(begin * len(rows)), len(rows) - 1)
    last = max(round(end * len(rows)), first + 1)
    return [_with_cell(row, width, is_thumb=first <= number < last) for number, row in enumerate(rows)]


def with_jump(rows: Sequence[Line], width: int, hint: str) -> list[Line]:
    """Return rows whose last one is replaced by the label that jumps to the end."""
    text = cut_text(f" ↓ Jump to latest message{f' · {hint}' if hint else ''} ", width)
    left = (width - cells(text)) // 2
    return [*rows[:-1], Line.of(Run(" " * left), Run(text, "accent", background="selectedBg"))]


def _with_cell(row: Line, width: int, *, is_thumb: bool) -> Line:
    short = cut(row, width - 1, "")
    gap = width - 1 - cells(str(short))
    behind = None if row.fill is None else row.fill
    bar = Run("█" if is_thumb else "│", "scrollbarThumb" if is_thumb else "borderMuted")
    return Line((*short.runs, Run(" " * gap, background=behind), bar), row.fill)

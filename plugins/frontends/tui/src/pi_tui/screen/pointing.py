"""Mouse actions in the conversation: scroll, select, expand a block, drag the scrollbar."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events

    from pi_tui.screen.anchor import Place
    from pi_tui.screen.transcript import Transcript

__all__ = ["Pointing"]

_WHEEL = 3
"""Rows to scroll for a step of the wheel."""

_LEFT = 1

_WORD, _LINE = 2, 3
"""Number of successive clicks that select a word, and a line."""

_EXPANDED = frozenset(["tool", "bash", "summary", "error", "custom"])
"""Kinds of blocks that can be expanded."""


class Pointing:
    """Handles the mouse in the pane of a conversation.

    Args:
        pane: The pane.
        selected: Called after the user has selected something.
    """

    def __init__(self, pane: Transcript, selected: Callable[[], object]) -> None:
        self._pane = pane
        self._selected = selected
        self._is_selecting = self._is_scrolling = self._has_moved = False

    def press(self, event: events.MouseDown) -> None:
        """Start a selection or a drag of the scrollbar."""
        pane = self._pane
        if event.button != _LEFT:
            return
        self._has_moved = False
        if pane.has_scrollbar and event.x == pane.size.width - 1:
            self._is_scrolling = True
            pane.scroll_to_share(event.y)
        elif (place := pane.place_at(event.y)) is not None:
            self._is_selecting = True
            pane.selection.begin(place, event.x)
        pane.capture_mouse()

    def move(self, event: events.MouseMove) -> None:
        """Continue the current drag; scroll when a selection passes an edge."""
        pane = self._pane
        if self._is_scrolling:
            pane.scroll_to_share(event.y)
        elif self._is_selecting:
            self._has_moved = True
            if event.y < 0 or event.y >= pane.size.height:
                pane.scroll_rows(-1 if event.y < 0 else 1)
            place = pane.place_at(max(event.y, 0)) or self._last()
            if place is not None:
                pane.selection.extend(place, event.x + (1 if event.x > 0 else 0))
                pane.update_rows()

    def release(self) -> None:
        """End the current drag."""
        self._pane.release_mouse()
        if self._is_selecting and self._has_moved and self._pane.selection:
            self._selected()
        self._is_selecting = self._is_scrolling = False

    def click(self, event: events.Click) -> None:
        """Jump to the end, expand a block, or select a word or a line."""
        pane = self._pane
        if self._has_moved or event.button != _LEFT:
            return
        if not pane.anchored.follows and event.y >= pane.room[0] - 1:  # the label, and the blank row below it
            pane.show_end()
            return
        place = pane.place_at(event.y)
        if place is None:
            return
        if event.chain == _WORD:
            pane.selection.take_word(place, event.x, pane.room[1])
        elif event.chain >= _LINE:
            pane.selection.take_line(place, pane.room[1])
        else:
            self._expand(place)
            return
        pane.update_rows()
        if pane.selection:
            self._selected()

    def wheel(self, step: int) -> None:
        """Scroll by steps of the wheel, up if negative."""
        self._pane.scroll_rows(step * _WHEEL)

    def _expand(self, place: Place) -> None:
        """Expand or collapse a block."""
        pane = self._pane
        pane.selection.clear()
        if pane.kind_of(place[0]) in _EXPANDED:
            pane.anchored.toggled ^= {place[0]}
        pane.update_rows()

    def _last(self) -> Place | None:
        height, look = self._pane.room
        places = self._pane.anchored.places(height, look)
        return places[-1] if places else None

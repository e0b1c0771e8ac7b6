"""The search in the conversation: it covers the text of all blocks, also of blocks that were never laid out."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from pi_hookspecs import Line, Run
from pi_tui.lines.line import cells, cut
from pi_tui.screen.marking import found_cells, marked
from pi_tui.selectors.field import Field
from pi_tui.view.blocks import text_of_block

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_tui.keys.bindings import Bindings
    from pi_tui.keys.events import Key
    from pi_tui.lines.look import Look
    from pi_tui.screen.anchor import Anchor, Place
    from pi_tui.view.state import State

__all__ = ["Search"]

_WIDTH = 40
"""Width of the search box, in cells."""


class _Match(NamedTuple):
    """A match: the id of its block, and its number among the matches in that block."""

    block: str
    number: int


class Search:
    """An open search.

    Args:
        state: The state with the conversation.
        anchor: The visible rows of the conversation.

    Attributes:
        cursor: The cell of the text cursor in the first row; set when the box is drawn.
    """

    def __init__(self, state: State, anchor: Anchor) -> None:
        self._state, self._anchor = state, anchor
        self._field = Field()
        self._matches: list[_Match] = []
        self._current = -1
        self._searched: tuple[str, int, int] = "", 0, 0
        self.cursor = 0

    @property
    def _wanted(self) -> str:
        return self._field.text.lower()

    def press(self, key: Key, bindings: Bindings, height: int, look: Look) -> bool:
        """Handle a key; return whether the search used it."""
        if bindings.does(key.name, "tui.altScreen.searchNext"):
            self._go(1, height, look)
        elif bindings.does(key.name, "tui.altScreen.searchPrevious"):
            self._go(-1, height, look)
        elif self._field.press(key, bindings):
            self._begin(height, look)
        else:
            return bool(key.text)
        return True

    def paste(self, text: str, height: int, look: Look) -> None:
        """Insert a text into the search text."""
        self._field.paste(text)
        self._begin(height, look)

    def _begin(self, height: int, look: Look) -> None:
        """Search for the typed text, and display the last match, which the user has read most recently."""
        self._current = -1
        self._search()
        self._go(-1, height, look)

    def _search(self) -> None:
        """Find all matches again if the search text or the conversation has changed."""
        searched = self._wanted, len(self._state.blocks), sum(each.revision for each in self._state.blocks)
        if searched == self._searched:
            return
        self._searched = searched
        self._matches = [
            _Match(block.id, number)
            for block in self._state.blocks
            for number in range(text_of_block(block).lower().count(self._wanted) if self._wanted else 0)
        ]

    def _go(self, step: int, height: int, look: Look) -> None:
        self._search()
        if not self._matches:
            self._current = -1
            return
        self._current = (self._current + step if self._current >= 0 else min(step, 0)) % len(self._matches)
        place = self._place(look)
        self._anchor.show(place, height, look)

    def _place(self, look: Look) -> Place:
        """Return the row of the current match; expand a block that hides it."""
        match = self._matches[self._current]
        lines = self._lines(match.block, look)
        if match.number >= len(lines) and match.block not in self._anchor.toggled and not look.expanded:
            self._anchor.toggled.add(match.block)
            lines = self._lines(match.block, look)
        return match.block, lines[min(match.number, len(lines) - 1)] if lines else 0

    def _lines(self, block: str, look: Look) -> list[int]:
        """Return the row numbers of the matches in a block; a row with several matches is repeated."""
        rows = self._anchor.block_rows(block, look)
        return [number for number, row in enumerate(rows) for _ in found_cells(str(row), self._wanted)]

    def marked(self, rows: Sequence[Line], places: Sequence[Place], look: Look) -> list[Line]:
        """Return the visible rows with the matches marked, and with the search box at the top right."""
        current = self._place(look) if 0 <= self._current < len(self._matches) else None
        drawn = []
        for row, place in zip(rows, places, strict=True):
            line = row
            for first, last in found_cells(str(row), self._wanted):
                is_current = place == current
                background = "searchMatchBg" if is_current else "selectedBg"
                line = marked(line, first, last, background, "searchMatchText" if is_current else None)
            drawn.append(line)
        return [self._with_box(drawn[0] if drawn else Line(), look), *drawn[1:]]

    def _with_box(self, row: Line, look: Look) -> Line:
        width = look.width
        keys = "/".join(filter(None, (look.hints.get("next match"), look.hints.get("previous match"))))
        count = f" {self._current + 1}/{len(self._matches)} " if self._wanted else f" {keys} "
        room = min(_WIDTH, width)
        typed = cut(self._field.line(max(room - cells(count), 1), " Search: "), max(room - cells(count), 1))
        gap = room - cells(str(typed)) - cells(count)
        self.cursor = (
            width - room + sum([cells(run.text) for run in takewhile(lambda run: not run.reverse, typed.runs)])
        )
        left = cut(row, width - room, "")
        runs = [*left.runs, Run(" " * (width - room - cells(str(left))))]
        box = [*typed.runs, Run(" " * max(gap, 0)), Run(count, "muted")]
        return Line.of(*runs, *(run._replace(background="selectedBg") for run in box))

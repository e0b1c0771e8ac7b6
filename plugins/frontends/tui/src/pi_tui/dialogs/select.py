"""Dialogs for choosing one option of a list, which typed text filters, and for answering yes or no."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING

from pi_hookspecs import Line, Run
from pi_terminal_kit.words import is_path, path_end
from pi_tui.dialogs.base import Dialog, framed, heading, hint
from pi_tui.editor.clusters import previous_boundary
from pi_tui.lines.line import cells, cut, cut_text
from pi_tui.view.clean import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_tui.keys.bindings import Bindings
    from pi_tui.keys.events import Key

__all__ = ["Confirm", "Select", "in_columns"]

_GAP = re.compile(r"(?<=\S) {2,}(?=\S)")

_WIDEST = 60
"""Maximum cells of a path, which keeps its end, and of any other field but the last, which keeps its beginning."""


def in_columns(texts: Sequence[str]) -> list[str]:
    """Return texts with their fields below one another; texts that are no table are unchanged.

    Spaces at the start of a text belong to its first field.
    """
    rows = [_GAP.split(text) for text in texts]
    if len(rows) < 2 or min(map(len, rows)) < 2:  # noqa: PLR2004 - two rows, two fields
        return [*texts]
    rows = [[*map(_shortened, row[:-1]), _shortened(row[-1]) if is_path(row[-1].lstrip()) else row[-1]] for row in rows]
    widths = [max(map(cells, column)) for column in zip_longest(*rows, fillvalue="")]
    return [
        "  ".join(
            [*(field + " " * (width - cells(field)) for field, width in zip(row[:-1], widths, strict=False)), row[-1]]
        )
        for row in rows
    ]


def _shortened(field: str) -> str:
    return path_end(field, _WIDEST, cells) if is_path(field.lstrip()) else cut_text(field, _WIDEST)


_PAGE = 5
"""Rows of a long text by which a key scrolls."""

_LEAST = 3
"""Options, and rows of the text, that are displayed at least if there is room: the keys give way to them."""

_SEARCHED = 8
"""Fewest options for which the list can be searched."""


class Select(Dialog[str]):
    """Asks the user to choose one of several options.

    Args:
        title: The question.
        options: The options.
        message: An explanation.
        selected: Index of the option that is selected initially.
    """

    def __init__(self, title: str, options: Sequence[str], *, message: str = "", selected: int = 0) -> None:
        super().__init__()
        self._title, self._message = title, message
        self._options = [*options]
        self._texts = dict(zip(options, in_columns([clean(each).replace("\n", " ") for each in options]), strict=True))
        self._found = [*options]
        self._selected = selected
        self._typed = ""
        self._scrolled = self._hidden = 0
        """Rows of the title and the text above those that are displayed, and the most that can be."""

    def lines(self, width: int, height: int) -> list[Line]:
        """Return the title and the text, the options around the selected one, the position and the hint."""
        head = heading(self._title, self._message, width)
        search = [cut(Line.of(Run("> ", "accent"), Run(self._typed)), width)] if self._typed else []
        keys = hint([("Enter", "to select"), ("Escape", "to cancel")], width)
        least = min(max(len(self._found), 1), _LEAST)
        around = 2 + len(search) + (1 if len(self._found) > least else 0)
        if height - least - around - len(keys) < min(len(head), _LEAST):
            keys = []
        head = self._part_of(head, max(height - least - around - len(keys), 1), width)
        room = max(height - len(head) - around - len(keys), 1)
        first = min(max(self._selected - room // 2, 0), max(len(self._found) - room, 0))
        rows = [
            self._row(option, width, is_selected=first + number == self._selected)
            for number, option in enumerate(self._found[first : first + room])
        ]
        if not rows:
            rows = [Line.of(Run("  No matching options", "muted"))]
        if len(self._found) > room:
            rows.append(Line.of(Run(f"  ({self._selected + 1}/{len(self._found)})", "muted")))
        return framed([*head, *search, *rows, *keys], width)

    def _part_of(self, head: list[Line], room: int, width: int) -> list[Line]:
        """Return the rows of a head that fit, with their position if there are more."""
        self._hidden = max(len(head) - max(room - 1, 1), 0) if len(head) > room else 0
        self._scrolled = min(self._scrolled, self._hidden)
        if not self._hidden:
            return head
        shown = head[self._scrolled : self._scrolled + max(room - 1, 1)]
        last = self._scrolled + len(shown)
        position = Line.of(Run(f"({last}/{len(head)} rows, pageUp and pageDown scroll)", "dim"))
        return [*shown, cut(position, width)][:room]

    def _row(self, option: str, width: int, *, is_selected: bool) -> Line:
        text = self._texts[option]
        line = Line.of(Run("→ ", "accent"), Run(text, "accent")) if is_selected else Line.of(Run(f"  {text}"))
        return cut(line, width)

    def key(self, key: Key, bindings: Bindings) -> None:
        """Move the selection, or choose, search or dismiss."""
        actions = bindings.actions(key.name, "list")
        if "tui.select.cancel" in actions:
            self.finish(None)
        elif "tui.select.confirm" in actions:
            if self._found:
                self.finish(self._found[self._selected])
        elif "tui.select.up" in actions:
            self._move(-1)
        elif "tui.select.down" in actions:
            self._move(1)
        elif "tui.select.pageUp" in actions:
            self._page(-1)
        elif "tui.select.pageDown" in actions:
            self._page(1)
        elif key.name == "backspace":
            self._search(self._typed[: previous_boundary(self._typed, len(self._typed))])
        elif key.text and key.text.isprintable():
            self._type(key.text)

    def _move(self, by: int) -> None:
        if self._found:
            self._selected = (self._selected + by) % len(self._found)

    def _page(self, by: int) -> None:
        """Scroll the text if a part of it is hidden; otherwise go to another option."""
        if self._hidden:
            self._scrolled = min(max(self._scrolled + by * _PAGE, 0), self._hidden)
        else:
            self._selected = max(min(self._selected + by * 2 * _PAGE, len(self._found) - 1), 0)

    def _type(self, text: str) -> None:
        if len(self._options) >= _SEARCHED or self._typed:
            self._search(self._typed + text)
            return
        if text.isdecimal() and 0 < int(text) <= len(self._found):
            self._selected = int(text) - 1

    def _search(self, typed: str) -> None:
        self._typed = typed
        words = typed.lower().split()
        self._found = [each for each in self._options if all(word in each.lower() for word in words)]
        self._selected = 0


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

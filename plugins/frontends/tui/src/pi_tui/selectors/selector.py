"""The base class of all lists: actions of keys, a search, rows between two rules, and hints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

from pi_hookspecs import Line, Run
from pi_tui.keys.hints import action_hint
from pi_tui.lines.line import cut
from pi_tui.lines.wrap import wrap_items
from pi_tui.selectors.field import Field
from pi_tui.view.clean import clean_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_tui.keys.actions import Place
    from pi_tui.keys.bindings import Bindings
    from pi_tui.keys.events import Key
    from pi_tui.selectors.choices import Choices

__all__ = ["Cancelled", "Chosen", "Hint", "Outcome", "Selector", "drawn_keys", "selected_row"]

T = TypeVar("T")

_PAGE = 10


class Chosen(NamedTuple):
    """The user chose an item: the list is closed."""

    value: Any


class Cancelled(NamedTuple):
    """The user cancelled: the list is closed."""


Outcome = Any
"""The result of a key: ``Chosen``, ``Cancelled``, or a request of the list for its front end."""

Hint = tuple[str | tuple[str, ...], str]
"""One or more actions, and a description of what their keys do."""


class Selector(Generic[T]):
    """A list that can be searched. Subclasses define the rows and additional actions.

    Args:
        choices: The items.

    Attributes:
        place: The place whose key bindings apply.
        empty: The text that is displayed if nothing is found.
    """

    place: ClassVar[Place] = "list"
    empty: ClassVar[str] = "No matches"

    def __init__(self, choices: Choices[T]) -> None:
        self.choices = choices
        self.field = Field()

    # For subclasses

    def row(self, item: T, width: int, *, is_selected: bool) -> Line:
        """Return the row of an item."""
        raise NotImplementedError

    def head(self, width: int, bindings: Bindings) -> Sequence[Line]:
        """Return the rows above the search."""
        return ()

    def foot(self, width: int, bindings: Bindings) -> Sequence[Line]:
        """Return the rows below the list."""
        return ()

    def hints(self) -> Sequence[Hint]:
        """Return the descriptions of keys."""
        return (("tui.select.confirm", "to select"), ("tui.select.cancel", "to cancel"))

    def act(self, action: str) -> Outcome | None:
        """Perform an action of this list; return ``NotImplemented`` for an action that it does not have."""
        return NotImplemented

    def confirm(self) -> Outcome | None:
        """Choose the selected item."""
        return Chosen(self.choices.selected) if self.choices.found else None

    # Common to all lists

    def press(self, key: Key, bindings: Bindings) -> Outcome | None:
        """Handle a key and return its outcome; None if it affected only the list itself."""
        if key.action == "release":
            return None
        for action in (*bindings.actions(key.name, self.place), *bindings.actions(key.name, "main")):
            done = self.act(action)
            if done is not NotImplemented:
                return done
            if action.startswith("tui.select."):
                return self._move(action)
        self._type(key, bindings)
        return None

    def paste(self, text: str) -> None:
        """Insert a pasted text into the search."""
        self.field.paste(text)
        self.searched()

    def searched(self) -> None:
        """Display the items that match the changed search."""
        self.choices.search(self.field.text)

    def lines(self, width: int, height: int, bindings: Bindings) -> list[Line]:
        """Return all rows, none wider than ``width``; at most ``height`` rows, unless no item would fit."""
        width = max(width, 1)
        search = [row for row in (self.search_line(width),) if row is not None]
        head, foot = [*self.head(width, bindings)], [*self.foot(width, bindings)]
        hints = hint_rows(self.hints(), bindings, width)
        least = min(_LEAST, len(self.choices.found))
        # Omit help before items if there is little room, and the title last.
        for above, below in ((head, [*foot, *hints]), (head, hints), (head, []), (head[:1], []), ([], [])):
            room = height - len(above) - len(search) - len(below) - _AROUND
            if room >= least:
                break
        room = max(room, 1)
        rule = Line.of(Run("─" * width, "border"))
        rows = [rule, *above, *search, *self.body(room, width), *below, rule]
        return [cut(row, width) for row in rows]

    def search_line(self, width: int) -> Line | None:
        """Return the search row; None for a list that cannot be searched."""
        return self.field.line(width)

    def body(self, room: int, width: int) -> list[Line]:
        """Return the rows of the items, and the cursor's position if not all of them are displayed."""
        choices = self.choices
        if choices.query.problem is not None:
            return [Line.of(Run(f"  {clean_line(choices.query.problem)}", "error"))]
        if not choices.found:
            return [Line.of(Run(f"  {self.empty}", "muted"))]
        rows = [self.row(item, width, is_selected=selected) for item, selected in choices.visible(room)]
        if len(choices.found) > room:
            rows.append(Line.of(Run(f"  {choices.position}", "muted")))
        return rows

    def _move(self, action: str) -> Outcome | None:
        if action == "tui.select.cancel":
            return Cancelled()
        if action == "tui.select.confirm":
            return self.confirm()
        if action in _STEPS:
            self.choices.move(_STEPS[action])
        else:
            self.choices.jump(_PAGES[action])
        self.moved()
        return None

    def moved(self) -> None:
        """React to the selection of another item; the default does nothing."""

    def _type(self, key: Key, bindings: Bindings) -> None:
        if self.field.press(key, bindings):
            self.searched()
            self.moved()


_STEPS = {"tui.select.up": -1, "tui.select.down": 1}

_PAGES = {"tui.select.pageUp": -_PAGE, "tui.select.pageDown": _PAGE}

_AROUND = 3
"""Number of rows for the rules and the cursor's position."""

_LEAST = 3
"""Minimum number of displayed items; the head and the hints give way to them."""


def selected_row(parts: Iterable[str | Run], *, is_selected: bool) -> Line:
    """Return a row that begins with a cursor, or with equally wide space."""
    return Line.of(Run("→ ", "accent") if is_selected else "  ", *parts)


def drawn_keys(bindings: Bindings, *actions: str) -> str:
    """Return the keys of actions in the form of hints, such as ``Ctrl+S``; empty if they have none.

    Several keys with the same modifiers are written as ``Ctrl+D/T/U``.
    """
    hints = action_hint(bindings, *actions).split("/")
    keys = ["+".join([part[:1].upper() + part[1:] for part in key.split("+")]) for key in hints]
    held = {key.rpartition("+")[0] for key in keys}
    if len(keys) > 2 and len(held) == 1:  # noqa: PLR2004 - two, such as the arrows, are easier to read apart
        keys[1:] = [key.rpartition("+")[2] for key in keys[1:]]
    return "/".join(keys)


def hint_rows(hints: Iterable[Hint], bindings: Bindings, width: int) -> list[Line]:
    """Return rows that describe keys, omitting actions without a key."""
    texts = []
    for actions, does in hints:
        keys = drawn_keys(bindings, *((actions,) if isinstance(actions, str) else actions))
        if keys:
            texts.append(f"{keys} {does}")
    return wrap_items(texts, width, Run("", "dim"))

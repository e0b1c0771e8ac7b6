"""What all lists have in common: keys by what they do, a search, the rows between two rules, a row of hints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

from pi_hookspecs import Line, Run
from pi_tui.keys.hints import action_hint
from pi_tui.lines.line import cut
from pi_tui.lines.wrap import wrap
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
    """The user took an item: the list is closed."""

    value: Any


class Cancelled(NamedTuple):
    """The user took none: the list is closed."""


Outcome = Any
"""What a key led to: ``Chosen``, ``Cancelled``, or a request of the list that its front end carries out."""

Hint = tuple[str | tuple[str, ...], str]
"""An action, or several, and what their keys do in words."""


class Selector(Generic[T]):
    """A list that can be searched. Subclasses say how a row looks and which further actions there are.

    Args:
        choices: The items.

    Attributes:
        place: Where its keys are pressed.
        empty: What is displayed where nothing is found.
    """

    place: ClassVar[Place] = "list"
    empty: ClassVar[str] = "No matches"

    def __init__(self, choices: Choices[T]) -> None:
        self.choices = choices
        self.field = Field()

    # What a subclass says

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
        """Return what keys do."""
        return (("tui.select.confirm", "to select"), ("tui.select.cancel", "to cancel"))

    def act(self, action: str) -> Outcome | None:
        """Do what only this list can; ``NotImplemented`` for an action that it does not have."""
        return NotImplemented

    def confirm(self) -> Outcome | None:
        """Take the selected item."""
        return Chosen(self.choices.selected) if self.choices.found else None

    # What all lists do

    def press(self, key: Key, bindings: Bindings) -> Outcome | None:
        """Take a key; return what it led to, None for nothing beyond the list itself."""
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
        """Take a pasted text."""
        self.field.paste(text)
        self.searched()

    def searched(self) -> None:
        """Display what matches the search after it changed."""
        self.choices.search(self.field.text)

    def lines(self, width: int, height: int, bindings: Bindings) -> list[Line]:
        """Return all rows, none wider than ``width``, at most ``height`` of them unless that is too few for any."""
        width = max(width, 1)
        search = [row for row in (self.search_line(width),) if row is not None]
        head, foot = [*self.head(width, bindings)], [*self.foot(width, bindings)]
        hints = hint_rows(self.hints(), bindings, width)
        least = min(_LEAST, len(self.choices.found))
        # What helps to find the way is left out before what can be chosen, and the title last.
        for above, below in ((head, [*foot, *hints]), (head, hints), (head, []), (head[:1], []), ([], [])):
            room = height - len(above) - len(search) - len(below) - _AROUND
            if room >= least:
                break
        room = max(room, 1)
        rule = Line.of(Run("─" * width, "border"))
        rows = [rule, *above, *search, *self.body(room, width), *below, rule]
        return [cut(row, width) for row in rows]

    def search_line(self, width: int) -> Line | None:
        """Return the row in which the user types; None for a list without a search."""
        return self.field.line(width)

    def body(self, room: int, width: int) -> list[Line]:
        """Return the rows of the items, and the cursor's place where they are not all displayed."""
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
        """Do what is to be done when another item is selected."""

    def _type(self, key: Key, bindings: Bindings) -> None:
        if self.field.press(key, bindings):
            self.searched()
            self.moved()


_STEPS = {"tui.select.up": -1, "tui.select.down": 1}

_PAGES = {"tui.select.pageUp": -_PAGE, "tui.select.pageDown": _PAGE}

_AROUND = 3
"""Rows of the rules and of the cursor's place."""

_LEAST = 3
"""Items that are displayed at least before head and hints are."""


def selected_row(parts: Iterable[str | Run], *, is_selected: bool) -> Line:
    """Return a row with a cursor, or with as much space."""
    return Line.of(Run("→ ", "accent") if is_selected else "  ", *parts)


def drawn_keys(bindings: Bindings, *actions: str) -> str:
    """Return the keys of actions as hints write them: ``Ctrl+S``; empty if they have none."""
    keys = action_hint(bindings, *actions).split("/")
    return "/".join("+".join([part[:1].upper() + part[1:] for part in key.split("+")]) for key in keys)


def hint_rows(hints: Iterable[Hint], bindings: Bindings, width: int) -> list[Line]:
    """Return rows that say what keys do; actions without a key are left out."""
    texts = []
    for actions, does in hints:
        keys = drawn_keys(bindings, *((actions,) if isinstance(actions, str) else actions))
        if keys:
            texts.append(f"{keys} {does}")
    return wrap([Run(" · ".join(texts), "dim")], width) if texts else []

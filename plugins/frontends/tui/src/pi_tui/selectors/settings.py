"""The menu of settings and the list of all, with descriptions, origins and values, which are changed in place."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from pi_hookspecs import Line, Run
from pi_tui.lines.line import cells, cut_text
from pi_tui.lines.wrap import wrap_text
from pi_tui.selectors.choices import Choices
from pi_tui.selectors.field import Field
from pi_tui.selectors.selector import Hint, Selector, selected_row
from pi_tui.view.clean import clean_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_tui.keys.bindings import Bindings
    from pi_tui.keys.events import Key
    from pi_tui.selectors.selector import Outcome

__all__ = ["ALL_SETTINGS", "SettingChanged", "SettingOpened", "SettingRow", "SettingSelector"]

_GAP = 2

ALL_SETTINGS = "all settings"
"""The name in ``SettingOpened`` of the entry that leads from the menu to the list of all settings."""

_MOST_TEXT = 3
"""Maximum number of rows of a description."""


class SettingRow(NamedTuple):
    """A setting.

    Attributes:
        name: Its dotted name.
        kind: The type of its value; a ``list`` has a dialog of its own.
        value: The effective value; None if there is none.
        description: What it does.
        choices: The values of a ``choice``.
        place: The place where it is set; empty for the default.
        least: The minimum of a number; None if there is none.
        is_whole: Whether a number must be whole.
        group: The heading below which it is in the menu; empty if it is only in the list of all settings.
        title: Its name in words.
        label_before: Its label in the original pi, by which it is found as well.
    """

    name: str
    kind: Literal["boolean", "choice", "number", "text", "list"]
    value: Any = None
    description: str = ""
    choices: tuple[str | bool, ...] = ()
    place: str = ""
    least: float | None = None
    is_whole: bool = False
    group: str = ""
    title: str = ""
    label_before: str = ""

    @property
    def text(self) -> str:
        """The value in its displayed form."""
        return _text(self.value)

    @property
    def label(self) -> str:
        """The title, or the dotted name."""
        return self.title or self.name


def _searched_words(row: SettingRow) -> str:
    return f"{row.description} {row.label_before}".lower()


_ALL = SettingRow(
    ALL_SETTINGS, "list", description="The list of all settings, by their names", title="All settings ..."
)


class SettingChanged(NamedTuple):
    """The user changed a setting; None restores its default. The list stays open."""

    name: str
    value: Any


class SettingOpened(NamedTuple):
    """The user opened the dialog of a setting: the list is closed, and reopens after it."""

    name: str


class SettingSelector(Selector[SettingRow]):
    """The menu of settings, which a search extends to all settings.

    Args:
        rows: All settings. Without any in a group there is no menu, only the list.
        selected: The name of the initially selected setting.
        everything: Whether to display the list of all settings by their names, in place of the menu.

    Attributes:
        problem: A sentence about an operation that failed.
    """

    empty: ClassVar[str] = "No matching settings"

    def __init__(self, rows: Iterable[SettingRow], selected: str | None = None, *, everything: bool = False) -> None:
        self._everything = everything
        self._rows = self._named(rows)
        self._drawn_group = ""
        text = "{0.title} {0.name}".format
        super().__init__(Choices(self._rows, text, key=lambda row: row.name, more=_searched_words))
        self._value: Field | None = None
        self.problem = ""
        self.choices.replace(self._offered())
        self.choices.index = 0
        if selected is not None:
            self.choices.select(selected)

    def take(self, rows: Iterable[SettingRow]) -> None:
        """Display these settings; the selected setting stays selected."""
        self._rows = self._named(rows)
        self.choices.replace(self._offered())

    def searched(self) -> None:
        """Search all settings, or display the menu again if nothing is searched for."""
        self.choices.replace(self._offered())
        super().searched()

    def _named(self, rows: Iterable[SettingRow]) -> list[SettingRow]:
        """Return the rows; in the list of all settings sorted by name, without groups and titles."""
        if not self._everything:
            return [*rows]
        return [row._replace(group="", title="") for row in sorted(rows, key=lambda row: row.name.lower())]

    def _offered(self) -> list[SettingRow]:
        menu = [row for row in self._rows if row.group]
        return self._rows if self.field.text or not menu else [*menu, _ALL]

    # Rows

    def search_line(self, width: int) -> Line:
        """Return the search, or the value being typed."""
        selected = self.choices.selected
        if self._value is None or selected is None:
            return self.field.line(width)
        return self._value.line(width, f"{cut_text(selected.label, max(width // 2, 1))}: ")

    def row(self, item: SettingRow, width: int, *, is_selected: bool) -> Line:
        """Return a row with the group, the name and the value, each in a column; a group is named once."""
        found = self.choices.found
        groups = max(cells(row.group) for row in found)
        group = item.group if item.group != self._drawn_group else ""
        self._drawn_group = item.group
        column = min(max(cells(row.label) for row in found), max(width // 2, 1))
        name = cut_text(item.label, column)
        text = clean_line(item.text) or "not set"
        value = Run("" if item.name == ALL_SETTINGS else text, "text" if item.place else "muted")
        space = " " * (column - cells(name) + _GAP)
        heading = [Run(f"{group:<{groups + _GAP}}", "muted")] if groups else []
        label = Run(name, "accent" if is_selected else "text")
        return selected_row([*heading, label, space, value], is_selected=is_selected)

    def body(self, room: int, width: int) -> list[Line]:
        """Return the rows without the cursor's position, which ``foot`` displays."""
        self._drawn_group = ""
        return super().body(room, width)[:room]

    def foot(self, width: int, bindings: Bindings) -> Sequence[Line]:
        """Return the cursor's position, and the description and the origin of the selected setting."""
        rows = [Line.of(Run(f"  {self.choices.position}", "muted"))]
        selected = self.choices.selected
        if selected is not None:
            values = f" ({', '.join(map(_text, selected.choices))})" if selected.choices else ""
            text = clean_line(f"{selected.description}{values}.")
            rows += wrap_text(text, width, Run("", "muted"))[:_MOST_TEXT]
            where = f"Set in {selected.place}" if selected.place else "The default"
            where = "" if selected.name == ALL_SETTINGS else where
            where = f"{selected.name} · {where}" if selected.title and where else where
            rows.append(Line.of(Run(clean_line(where), "dim")))
        return [*rows, Line.of(Run(clean_line(self.problem), "error"))] if self.problem else rows

    def hints(self) -> Sequence[Hint]:
        """Return the descriptions of the keys that can be pressed now."""
        if self._value is not None:
            return (("tui.select.confirm", "to save, empty for the default"), ("tui.select.cancel", "to leave it"))
        return (("tui.select.confirm", "or Space to change"), ("tui.select.cancel", "to close"))

    # Keys

    def press(self, key: Key, bindings: Bindings) -> Outcome | None:
        """Handle a key; while a value is typed, it receives all keys."""
        if key.action == "release":
            return None
        self.problem = ""
        if self._value is None:
            return self.confirm() if key.text == " " else super().press(key, bindings)
        actions = bindings.actions(key.name, "list")
        if "tui.select.cancel" in actions:
            self._value = None
        elif "tui.select.confirm" in actions:
            return self._typed(self._value.text.strip())
        else:
            self._value.press(key, bindings)
        return None

    def paste(self, text: str) -> None:
        """Insert a pasted text into the search or the value."""
        if self._value is not None:
            self._value.paste(text)
        else:
            super().paste(text)

    def confirm(self) -> Outcome | None:
        """Change the selected setting to its next value, or begin to type a value."""
        row = self.choices.selected
        if row is None:
            return None
        if row.kind == "list":
            return SettingOpened(row.name)
        if row.kind == "boolean":
            return SettingChanged(row.name, not row.value)
        if row.kind == "choice":
            after = row.choices.index(row.value) + 1 if row.value in row.choices else 0
            return SettingChanged(row.name, row.choices[after % len(row.choices)])
        self._value = Field(row.text)
        return None

    def _typed(self, text: str) -> Outcome | None:
        """Return the change to the typed value; report an invalid number, which can then be edited further."""
        row = self.choices.selected
        if row is None or not text:
            self._value = None
            return SettingChanged(row.name, None) if row is not None else None
        value: Any = text
        if row.kind == "number":
            value = _number(text, row)
            if value is None:
                least = "" if row.least is None else f" of at least {row.least:g}"
                self.problem = f"{text!r} is not a{' whole' if row.is_whole else ''} number{least}."
                return None
        self._value = None
        return SettingChanged(row.name, value)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "" if value is None else str(value)


def _number(text: str, row: SettingRow) -> float | None:
    try:
        value = int(text) if row.is_whole else float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and (row.least is None or value >= row.least) else None

"""A form: several fields, which are edited in place, and a row that submits them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple

from pi_hookspecs import Line, Run
from pi_tui.dialogs.base import Dialog, framed, heading, hint
from pi_tui.lines.line import cells, cut, cut_text
from pi_tui.lines.wrap import wrap_text
from pi_tui.selectors.field import Field
from pi_tui.view.clean import clean, clean_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pi_hookspecs import FormField
    from pi_tui.keys.bindings import Bindings
    from pi_tui.keys.events import Key

__all__ = ["Form"]

_TYPED = ("text", "number", "integer")

_BELOW = 3
"""Most rows of a description or a problem."""

_LEAST = 2
"""Fields that are displayed at least: keys, the message and the description give way to them."""


class _Row(NamedTuple):
    """A row that can be selected: a field, one option of a field with several choices, or Submit."""

    field: FormField | None
    option: str | None = None


class Form(Dialog[dict[str, Any]]):
    """Asks for the values of fields. The caller checks submitted values, then calls ``finish`` or ``show_problems``.

    Args:
        fields: The fields to fill in.
        title: The title of the form.
        message: An explanation.

    Attributes:
        submitted: Receives the values at each submission, by the names of the fields: the typed text, an option, a
            list of options, a boolean, or None for a field that is not set.
        problems: What is wrong with fields, by the names of the fields.
    """

    is_tall = True

    def __init__(self, fields: Sequence[FormField], title: str, message: str) -> None:
        super().__init__()
        self._title, self._message = title, message
        self._fields = fields
        self.submitted: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue()
        self.problems: Mapping[str, str] = {}
        self._texts = {each.name: Field(_text(each.default)) for each in fields if each.type in _TYPED}
        self._values = {each.name: _first_value(each) for each in fields if each.type not in _TYPED}
        self._rows = [*_rows(fields), _Row(None)]
        self._at = 0

    @property
    def values(self) -> dict[str, Any]:
        """The values so far, by the names of the fields."""
        return {**{name: field.text for name, field in self._texts.items()}, **self._values}

    def show_problems(self, problems: Mapping[str, str]) -> None:
        """Display problems by the names of their fields, and select the first of these fields."""
        self.problems = problems
        self._at = next(
            (number for number, row in enumerate(self._rows) if row.field and row.field.name in problems), 0
        )

    # Rows

    def lines(self, width: int, height: int) -> list[Line]:
        """Return the title, the fields, and the description of the selected field."""
        head = heading(self._title, self._message, width)
        about, keys = self._about(width), hint(self._hints(), width)
        least = min(len(self._rows), _LEAST)
        if height - len(head) - len(about) - len(keys) - 2 < least:
            keys = []
            head = head[: max(height - len(about) - least - 2, 1)]
            about = about[: max(height - len(head) - least - 2, 0)]
        below = [*about, *keys]
        room = max(height - len(head) - len(below) - 2, 1)
        first = min(max(self._at - room + 1, 0), max(len(self._rows) - room, 0))
        column = min(max(cells(_label(each)) for each in self._fields), max(width // 3, 1)) + 2
        rows = [
            cut(self._row(row, width, column, is_selected=number == self._at), width)
            for number, row in enumerate(self._rows[first : first + room], first)
        ]
        return framed([*head, *rows, *below], width)

    def _row(self, row: _Row, width: int, column: int, *, is_selected: bool) -> Line:
        mark = Run("→ " if is_selected else "  ", "accent")
        if row.field is None:
            return Line.of(mark, Run("Submit", "accent" if is_selected else "text", bold=True))
        name = row.field.name
        if row.option is not None:
            box = "[x] " if row.option in self._values[name] else "[ ] "
            return Line.of(mark, "  ", Run(box + _title(row.field, row.option), "accent" if is_selected else "text"))
        label = cut_text(_label(row.field), column - 2)
        role = "error" if name in self.problems else "accent" if is_selected else "text"
        start = (mark, Run(label, role), Run(" " * (column - cells(label))))
        typed = self._texts.get(name)
        if typed is not None and is_selected:
            return Line((*start, *typed.line(max(width - column - 2, 1), "").runs))
        return Line((*start, Run(self._shown(row.field), "text")))

    def _shown(self, field: FormField) -> str:
        if field.type in _TYPED:
            return clean_line(self._texts[field.name].text)
        value = self._values[field.name]
        if field.type == "choices":
            return f"{len(value)} of {len(field.options)}"
        text = _title(field, value) if isinstance(value, str) else {True: "yes", False: "no", None: "not set"}[value]
        return f"< {text} >"

    def _about(self, width: int) -> list[Line]:
        field = self._rows[self._at].field
        if field is None:
            return []
        rows = wrap_text(clean(field.description), width, Run("", "muted"))[:_BELOW] if field.description else []
        problem = self.problems.get(field.name)
        return [*rows, *(wrap_text(clean(problem), width, Run("", "error"))[:_BELOW] if problem else [])]

    def _hints(self) -> list[tuple[str, str]]:
        row = self._rows[self._at]
        change = [("Space", "to change")] if row.field is not None and row.field.type not in _TYPED else []
        enter = "to submit" if row.field is None else "for the next field"
        return [*change, ("Enter", enter), ("Escape", "to cancel")]

    # Keys

    def key(self, key: Key, bindings: Bindings) -> None:
        """Move the selection, or change, submit or dismiss the form."""
        actions = bindings.actions(key.name, "list")
        row = self._rows[self._at]
        if "tui.select.cancel" in actions:
            self.finish(None)
        elif "tui.select.up" in actions or key.name == "shift+tab":
            self._move(-1)
        elif "tui.select.down" in actions or key.name == "tab":
            self._move(1)
        elif "tui.select.confirm" in actions:
            self._confirm()
        elif row.field is not None and row.field.type in _TYPED:
            self._texts[row.field.name].press(key, bindings)
        elif row.field is not None and (key.text == " " or key.name in ("left", "right")):
            self._change(row.field, row.option, -1 if key.name == "left" else 1)

    def paste(self, text: str) -> None:
        """Insert a pasted text if the selected field is a text field."""
        field = self._rows[self._at].field
        if field is not None and field.type in _TYPED:
            self._texts[field.name].paste(text)

    def _move(self, by: int) -> None:
        self._at = (self._at + by) % len(self._rows)

    def _confirm(self) -> None:
        if self._rows[self._at].field is None:
            self.submitted.put_nowait(self.values)
        else:
            self._move(1)

    def _change(self, field: FormField, option: str | None, by: int) -> None:
        value = self._values[field.name]
        if option is not None:
            chosen = {*value} ^ {option}
            self._values[field.name] = [each.value for each in field.options if each.value in chosen]
        elif field.type != "choices":
            values = _choices(field)
            self._values[field.name] = values[(values.index(value) + by) % len(values)]


def _rows(fields: Sequence[FormField]) -> Iterator[_Row]:
    for field in fields:
        yield _Row(field)
        if field.type == "choices":
            yield from (_Row(field, each.value) for each in field.options)


def _choices(field: FormField) -> list[Any]:
    """Return the values through which keys cycle in a field, with None last if the field may stay empty."""
    values: list[Any] = [True, False] if field.type == "boolean" else [each.value for each in field.options]
    return values if field.required or field.default is not None else [*values, None]


def _first_value(field: FormField) -> Any:
    if field.type == "choices":
        return [*(field.default or ())]
    values = _choices(field)
    return field.default if field.default in values else values[-1] if None in values else values[0]


def _text(default: Any) -> str:
    return "" if default is None else str(default)


def _label(field: FormField) -> str:
    return clean_line(field.label) + (" *" if field.required else "")


def _title(field: FormField, value: str) -> str:
    return clean_line(next((each.label for each in field.options if each.value == value), value))

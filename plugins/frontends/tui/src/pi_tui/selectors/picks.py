"""Short lists of options, each with a note next to it: providers, themes, messages, answers to a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from pi_hookspecs import Line, Run
from pi_tui.lines.line import cells, cut_text
from pi_tui.lines.wrap import wrap_text
from pi_tui.selectors.choices import Choices
from pi_tui.selectors.selector import Chosen, Selector, selected_row
from pi_tui.view.clean import clean, clean_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pi_tui.keys.bindings import Bindings
    from pi_tui.keys.events import Key
    from pi_tui.selectors.selector import Outcome

__all__ = ["Option", "Pick"]

_GAP = 3

_WIDEST = 40
"""Maximum cells of a name that has a note next to it."""


class Option(NamedTuple):
    """An option of a list.

    Attributes:
        value: Identifies the option.
        name: The displayed name.
        note: A text next to the name.
        is_current: Whether it is the current choice.
        key: A letter that chooses it at once if the list cannot be searched.
    """

    value: str
    name: str
    note: str = ""
    is_current: bool = False
    key: str = ""


class Pick(Selector[Option]):
    """A list with a title, a text and options.

    Args:
        title: The question.
        options: The options to choose from.
        message: A text below the title.
        searched: Whether the list can be searched.
        preview: Called with the option to which the cursor moves.
        last: Whether the last option is selected initially instead of the current one.
    """

    empty: ClassVar[str] = "No matches"

    def __init__(
        self,
        title: str,
        options: Iterable[Option],
        *,
        message: str = "",
        searched: bool = True,
        preview: Callable[[Option], object] | None = None,
        last: bool = False,
    ) -> None:
        choices = Choices(options, lambda each: each.name, key=lambda each: each.value, more=_small_note)
        super().__init__(choices)
        self._title, self._message = title, message
        self._is_searched = searched
        self._preview = preview
        found = self.choices.found
        self._wide = min(max([cells(clean_line(each.name)) for each in found], default=0), _WIDEST)
        current = len(found) - 1 if last else next((i for i, each in enumerate(found) if each.is_current), 0)
        self.choices.jump(current)

    def head(self, width: int, bindings: Bindings) -> Sequence[Line]:
        """Return the title and the text."""
        rows = wrap_text(clean(self._title), width, Run("", "accent", bold=True)) if self._title else []
        return rows + (wrap_text(clean(self._message), width, Run("", "muted")) if self._message else [])

    def search_line(self, width: int) -> Line | None:
        """Return the search row; None if the list cannot be searched."""
        return self.field.line(width) if self._is_searched else None

    def row(self, item: Option, width: int, *, is_selected: bool) -> Line:
        """Return a row with the name, a mark if it is the current choice, and the note."""
        name, note = clean_line(item.name), clean_line(item.note)
        mark = [Run(" ✓", "success")] if item.is_current else []
        if not note:
            return selected_row([_name(name, item.key, is_selected=is_selected), *mark], is_selected=is_selected)
        wide = min(self._wide, max(width // 2, 1))
        name = cut_text(name, wide)
        space = " " * (wide - cells(name) + _GAP - (2 if mark else 0))
        parts = [_name(name, item.key, is_selected=is_selected), *mark, Run(space), Run(note, "muted")]
        return selected_row(parts, is_selected=is_selected)

    def press(self, key: Key, bindings: Bindings) -> Outcome | None:
        """Handle a key; the letter of an option chooses that option."""
        if not self._is_searched and key.text and key.action != "release":
            found = next((each for each in self.choices.found if each.key and each.key == key.text.lower()), None)
            return Chosen(found) if found is not None else None
        return super().press(key, bindings)

    def paste(self, text: str) -> None:
        """Search for a pasted text."""
        if self._is_searched:
            super().paste(text)

    def moved(self) -> None:
        """Preview the selected option."""
        if self._preview is not None and self.choices.selected is not None:
            self._preview(self.choices.selected)


def _name(name: str, key: str, *, is_selected: bool) -> Run:
    return Run(f"{name} ({key.upper()})" if key else name, "accent" if is_selected else "text")


def _small_note(option: Option) -> str:
    return option.note.lower()

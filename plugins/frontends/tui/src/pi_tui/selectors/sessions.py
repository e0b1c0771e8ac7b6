"""The list of stored sessions, in which the user opens, renames and deletes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from pi_hookspecs import Line, Run
from pi_terminal_kit.words import age, path_end
from pi_tui.lines.line import cells, cut_text
from pi_tui.selectors.choices import Choices
from pi_tui.selectors.field import Field
from pi_tui.selectors.selector import Chosen, Hint, Selector, hint_rows, selected_row
from pi_tui.selectors.session_rows import Placed, SessionRow, SortMode, arranged
from pi_tui.view.clean import clean_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_tui.keys.actions import Place
    from pi_tui.keys.bindings import Bindings
    from pi_tui.keys.events import Key
    from pi_tui.selectors.selector import Outcome

__all__ = ["ScopeWanted", "SessionDeleted", "SessionRenamed", "SessionSelector", "TextWanted"]

_SORTS: tuple[SortMode, ...] = ("threaded", "recent", "relevance")

_LEAST_TITLE = 8
"""Minimum cells of a title; if there is less room, the count and the age are omitted."""


class ScopeWanted(NamedTuple):
    """The user wants the sessions of all folders, or of this one; pass them to ``SessionSelector.take``."""

    everywhere: bool


class TextWanted(NamedTuple):
    """The user searches, so that the messages must be read; pass rows with their text to ``SessionSelector.take``."""


class SessionRenamed(NamedTuple):
    """The user renamed a session; an empty name removes it. The list stays open."""

    path: str
    name: str


class SessionDeleted(NamedTuple):
    """The user confirmed the deletion of a session. The list stays open."""

    path: str


class SessionSelector(Selector[Placed]):
    """The list of stored sessions.

    Args:
        rows: The sessions that are known; None while they are read.
        now: Current time in seconds since 1970, for ages.

    Attributes:
        everywhere: Whether sessions of all folders are displayed.
        wants_text: Whether the text of the messages is searched.
        problem: A sentence about an operation that failed.
    """

    place: ClassVar[Place] = "sessions"
    empty: ClassVar[str] = "No matching sessions"

    def __init__(self, rows: Iterable[SessionRow] | None, *, now: float) -> None:
        self._rows = [*(rows or ())]
        self._is_reading = rows is None
        self._progress = ""
        self._now = now
        self._sort: SortMode = "threaded"
        self._only_named = self._shows_paths = False
        self._renaming: Field | None = None
        self._deleting = False
        self._asked: SessionRow | None = None
        self.wants_text = False
        self.everywhere = False
        self.problem = ""
        super().__init__(Choices((), lambda placed: placed.row.path))
        self._arrange()

    # Input from the front end

    def take(self, rows: Iterable[SessionRow], *, is_last: bool = True) -> None:
        """Display these sessions; the selected session stays selected.

        Args:
            rows: The sessions.
            is_last: False if these are the first of many, and the others are still being read.
        """
        self._rows, self._is_reading = [*rows], not is_last
        self._arrange(keep=True)

    def show_progress(self, done: int, total: int) -> None:
        """Display how many sessions have been read."""
        self._is_reading, self._progress = True, f" {done:,}/{total:,}"

    # Rows

    def head(self, width: int, bindings: Bindings) -> Sequence[Line]:
        """Return the scope, filter and order, and the keys that change them."""
        title = "Resume Session (All)" if self.everywhere else "Resume Session (Current Folder)"
        reading = f"  Loading{self._progress}..." if self._is_reading else ""
        here, everywhere = ("○", "◉") if self.everywhere else ("◉", "○")
        state = f"{here} Current Folder | {everywhere} All  Name: {'Named' if self._only_named else 'All'}"
        state += f"  Sort: {self._sort.capitalize()}"
        gap = width - cells(title) - cells(reading) - cells(state)
        parts = [Run(title, "accent", bold=True), Run(reading, "warning")]
        rows = [Line.of(*parts, Run(" " * gap), Run(state, "muted"))] if gap > 1 else []
        rows = rows or [Line.of(*parts), Line.of(Run(state, "muted"))]
        return [*rows, *hint_rows(_ABOVE, bindings, width)]

    def search_line(self, width: int) -> Line:
        """Return the search, the name being typed, or the confirmation question."""
        if self._renaming is not None:
            return self._renaming.line(width, "Name: ")
        if self._deleting:
            title = clean_line(self._asked.title) if self._asked is not None else ""
            return Line.of(Run(f"Delete {cut_text(title, max(width - 10, 1))!r}?", "error"))
        return self.field.line(width)

    def row(self, item: Placed, width: int, *, is_selected: bool) -> Line:
        """Return a row with the title, the number of messages and the age; a long title is cut."""
        row = item.row
        end = f"{row.messages} {age(max(self._now - row.modified, 0))}"
        if row.cwd and (self.everywhere or self._shows_paths):
            end = f"{path_end(clean_line(row.cwd), max(width // 3, 1), cells)} {end}"
        lines = cut_text(item.lines, max(width // 2, 1))
        room = width - 2 - cells(lines) - cells(end) - 2
        if room < _LEAST_TITLE:
            end, room = "", width - 2 - cells(lines)
        title = cut_text(clean_line(row.title), max(room, 1))
        role = "accent" if is_selected or row.is_current else "warning" if row.is_named else "text"
        if self._deleting and row is self._asked:
            role = "error"
        space = " " * (width - 2 - cells(lines) - cells(title) - cells(end))
        return selected_row([Run(lines, "dim"), Run(title, role), Run(space), Run(end, "dim")], is_selected=is_selected)

    def foot(self, width: int, bindings: Bindings) -> Sequence[Line]:
        """Return the path of the selected session if paths are displayed, and the problem if there is one."""
        selected = self.choices.selected
        rows = []
        if self._shows_paths and selected:
            rows.append(Line.of(Run(f"  {path_end(clean_line(selected.row.path), width - 2, cells)}", "dim")))
        if self.problem:
            rows.append(Line.of(Run(clean_line(self.problem), "error")))
        return rows

    def body(self, room: int, width: int) -> list[Line]:
        """Return the rows of the sessions, or a row that says that they are being read."""
        if self._is_reading and not self._rows:
            return [Line.of(Run("  Loading...", "muted"))]
        if not self._rows:
            where = "" if self.everywhere else " in this folder"
            return [Line.of(Run(f"  No sessions{where}", "muted"))]
        return super().body(room, width)

    def hints(self) -> Sequence[Hint]:
        """Return the descriptions of the keys that can be pressed now."""
        if self._renaming is not None:
            return (("tui.select.confirm", "to save"), ("tui.select.cancel", "to cancel"))
        if self._deleting:
            return (("tui.select.confirm", "to delete"), ("tui.select.cancel", "to keep it"))
        return (("tui.select.confirm", "to resume"), *super().hints()[1:])

    # Keys

    def press(self, key: Key, bindings: Bindings) -> Outcome | None:
        """Handle a key; while a name is typed or a question is open, it receives all keys."""
        if key.action == "release":
            return None
        if self._renaming is None and not self._deleting:
            searched = self.field.text
            done = super().press(key, bindings)
            return self._text_wanted() if done is None and self.field.text != searched else done
        actions = bindings.actions(key.name, "sessions")
        if "tui.select.cancel" in actions:
            self._renaming, self._deleting = None, False
        elif "tui.select.confirm" in actions:
            return self._done()
        elif self._renaming is not None:
            self._renaming.press(key, bindings)
        return None

    def paste(self, text: str) -> None:
        """Insert a pasted text into the search or the name."""
        if self._renaming is not None:
            self._renaming.paste(text)
        elif not self._deleting:
            super().paste(text)

    def act(self, action: str) -> Outcome | None:
        """Change the displayed sessions, or begin to rename or delete one."""
        if action == "tui.input.tab":
            self.everywhere = not self.everywhere
            self.wants_text = bool(self.field.text)
            return ScopeWanted(self.everywhere)
        if action == "app.session.toggleSort":
            self._sort = _SORTS[(_SORTS.index(self._sort) + 1) % len(_SORTS)]
            self._arrange(keep=True)
        elif action == "app.session.toggleNamedFilter":
            self._only_named = not self._only_named
            self._arrange(keep=True)
        elif action == "app.session.togglePath":
            self._shows_paths = not self._shows_paths
        elif action == "app.session.rename":
            self._rename()
        elif action == "app.session.delete" or (action == "app.session.deleteNoninvasive" and not self.field.text):
            self._delete()
        else:
            return NotImplemented
        return None

    def confirm(self) -> Outcome | None:
        """Open the selected session."""
        selected = self.choices.selected
        return Chosen(selected.row) if selected is not None else None

    def searched(self) -> None:
        """Display the items that match the changed search."""
        self._arrange()

    def _text_wanted(self) -> Outcome | None:
        if self.wants_text or not self.field.text:
            return None
        self.wants_text = True
        return TextWanted()

    def _rename(self) -> None:
        selected = self.choices.selected
        if selected is not None:
            self.problem = ""
            self._asked = selected.row
            self._renaming = Field(selected.row.title if selected.row.is_named else "")

    def _delete(self) -> None:
        selected = self.choices.selected
        self.problem = ""
        if selected is not None and selected.row.is_current:
            self.problem = "The session that is open cannot be deleted."
        elif selected is not None:
            self._deleting, self._asked = True, selected.row

    def _done(self) -> Outcome | None:
        """Return the confirmed change for the session that it was requested for, even if the list has changed since."""
        asked, self._asked = self._asked, None
        name, self._renaming = self._renaming, None
        deleting, self._deleting = self._deleting, False
        if asked is None:
            return None
        if deleting:
            return SessionDeleted(asked.path)
        return SessionRenamed(asked.path, name.text.strip()) if name is not None else None

    def _arrange(self, *, keep: bool = False) -> None:
        """Display the matching sessions in order."""
        placed = arranged(self._rows, self.field.text, self._sort, only_named=self._only_named)
        self.choices.show(placed, self.field.text)
        if not keep:
            self.choices.index = 0


_ABOVE: Sequence[Hint] = (
    ("tui.input.tab", "scope"),
    ("app.session.toggleNamedFilter", "named"),
    ("app.session.toggleSort", "sort"),
    ("app.session.togglePath", "path"),
    ("app.session.rename", "rename"),
    ("app.session.delete", "delete"),
)

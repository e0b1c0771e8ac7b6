"""The list of a session's tree, in which the user chooses the entry from which the session continues."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from pi_hookspecs import Line, Run
from pi_tui.lines.line import cells, cut_text
from pi_tui.selectors.choices import Choices
from pi_tui.selectors.field import Field
from pi_tui.selectors.query import Query
from pi_tui.selectors.selector import Chosen, Hint, Selector, hint_rows
from pi_tui.selectors.tree_rows import FILTERS, Filter, TreeEntry, TreeRow
from pi_tui.view.clean import clean_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_tui.keys.actions import Place
    from pi_tui.keys.bindings import Bindings
    from pi_tui.keys.events import Key
    from pi_tui.selectors.selector import Outcome
    from pi_tui.selectors.tree_rows import Tree

__all__ = ["EntryCopied", "LabelChanged", "TreeSelector"]


class LabelChanged(NamedTuple):
    """The user changed the label of an entry; an empty label removes it. The list stays open."""

    entry_id: str
    label: str


class EntryCopied(NamedTuple):
    """The user wants to copy the text of an entry. The list stays open."""

    text: str


class TreeSelector(Selector[TreeRow]):
    """The list of a session's entries; the leaf is selected initially.

    Args:
        tree: The entries.
        wanted: The initial filter of entries.
        selected: The id of the initially selected entry; None for the leaf.
    """

    place: ClassVar[Place] = "tree"
    empty: ClassVar[str] = "No entries found"

    def __init__(self, tree: Tree, wanted: Filter = "default", selected: str | None = None) -> None:
        super().__init__(Choices((), lambda row: row.entry.text, key=lambda row: row.entry.id))
        self._tree = tree
        self._filter: Filter = wanted
        self._folded: set[str] = set()
        self._shows_times = False
        self._label: Field | None = None
        self._last = selected or tree.leaf
        self._arrange(self._last)

    # Rows

    def head(self, width: int, bindings: Bindings) -> Sequence[Line]:
        """Return the title and the hints."""
        hints = _HINTS if self._label is None else _LABEL_HINTS
        return [Line.of(Run("Session Tree", "accent", bold=True)), *hint_rows(hints, bindings, width)]

    def search_line(self, width: int) -> Line:
        """Return the search, or the label being typed."""
        field, label = (self.field, "Type to search: ") if self._label is None else (self._label, "Label: ")
        return field.line(width, label)

    def row(self, item: TreeRow, width: int, *, is_selected: bool) -> Line:
        """Return a row with cursor, branches, a mark on the current path, the label, and the text, which may be cut."""
        entry = item.entry
        lines = item.lines if cells(item.lines) <= width // 2 else f"…{item.lines[-(width // 2) :]}"
        time = f" {entry.labelled}" if self._shows_times and entry.labelled else ""
        end = " ← active" if entry.id == self._active else ""
        runs = [Run("› " if is_selected else "  ", "accent"), Run(lines, "dim")]
        if entry.id in self._tree.path:
            runs.append(Run("• ", "accent"))
        if entry.label:
            runs.append(Run(f"[{clean_line(entry.label)}{time}] ", "warning"))
        room = max(width - sum(cells(run.text) for run in runs) - cells(end), 1)
        role = _ROLES.get(entry.kind, "dim")
        who = f"{entry.kind}: " if entry.kind in _SPEAKERS else ""
        runs += _text(who, clean_line(entry.text) or "(no text)", room, role, is_selected=is_selected)
        return Line.of(*runs, Run(end, "accent"))

    def foot(self, width: int, bindings: Bindings) -> Sequence[Line]:
        """Return the cursor's position and the filter."""
        wanted = "" if self._filter == "default" else f" [{self._filter}]"
        return [Line.of(Run(f"  {self.choices.position}{wanted}", "muted"))]

    def body(self, room: int, width: int) -> list[Line]:
        """Return the rows without the cursor's position, which ``foot`` displays."""
        return super().body(room, width)[:room]

    def hints(self) -> Sequence[Hint]:
        """Return nothing: the hints are in the head."""
        return ()

    # Keys

    def press(self, key: Key, bindings: Bindings) -> Outcome | None:
        """Handle a key; while a label is typed, it receives all keys. Left and Right go by pages in an empty search."""
        if self._label is None or key.action == "release":
            page = next((to for action, to in _PAGES.items() if bindings.does(key.name, action)), None)
            if page is not None and key.action != "release" and not self.field.text:
                return self._move(page)
            return super().press(key, bindings)
        actions = bindings.actions(key.name, "list")
        if "tui.select.cancel" in actions:
            self._label = None
        elif "tui.select.confirm" in actions:
            return self._labelled()
        else:
            self._label.press(key, bindings)
        return None

    def paste(self, text: str) -> None:
        """Insert a pasted text into the search or the label."""
        if self._label is not None:
            self._label.paste(text)
        else:
            super().paste(text)

    def act(self, action: str) -> Outcome | None:
        """Fold, filter, label or copy; cancel a search before the list."""
        selected = self.choices.selected
        if action == "tui.select.cancel" and self.field.text:
            self.field = Field()
            self.searched()
        elif action in _FILTER_KEYS:
            self._set_filter(_FILTER_KEYS[action])
        elif action in _FILTER_STEPS:
            self._set_filter(FILTERS[(FILTERS.index(self._filter) + _FILTER_STEPS[action]) % len(FILTERS)])
        elif action == "app.tree.foldOrUp":
            self._fold_or_up()
        elif action == "app.tree.unfoldOrDown":
            self._unfold_or_down()
        elif action == "app.tree.toggleLabelTimestamp":
            self._shows_times = not self._shows_times
        elif action == "app.tree.editLabel":
            self._label = Field(selected.entry.label) if selected is not None else None
        elif action == "app.message.copy":
            return EntryCopied(selected.entry.text) if selected is not None else None
        else:
            return NotImplemented
        return None

    def confirm(self) -> Outcome | None:
        """Choose the selected entry."""
        selected = self.choices.selected
        return Chosen(selected.entry) if selected is not None else None

    def searched(self) -> None:
        """Display the items that match the changed search, with nothing folded."""
        self._folded.clear()
        self._arrange(self._selected_id)

    @property
    def _selected_id(self) -> str | None:
        """The selected entry; if nothing is displayed, the one that was selected before."""
        selected = self.choices.selected
        if selected is not None:
            self._last = selected.entry.id
        return self._last

    def _set_filter(self, wanted: Filter) -> None:
        self._filter = wanted
        self._folded.clear()
        self._arrange(self._selected_id)

    def _fold_or_up(self) -> None:
        selected = self.choices.selected
        if selected is None:
            return
        if selected.starts_branch and selected.has_below and selected.entry.id not in self._folded:
            self._folded.add(selected.entry.id)
            self._arrange(selected.entry.id)
            return
        found = self.choices.found
        above = (index for index in range(self.choices.index - 1, -1, -1) if found[index].starts_branch)
        self.choices.index = next(above, 0)

    def _unfold_or_down(self) -> None:
        selected = self.choices.selected
        if selected is None:
            return
        if selected.entry.id in self._folded:
            self._folded.discard(selected.entry.id)
            self._arrange(selected.entry.id)
            return
        found = self.choices.found
        below = (index for index in range(self.choices.index + 1, len(found)) if found[index].starts_branch)
        self.choices.index = next(below, len(found) - 1)

    def _labelled(self) -> Outcome | None:
        typed, self._label = self._label, None
        selected = self.choices.selected
        if typed is None or selected is None:
            return None
        label = typed.text.strip()
        when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
        self._tree = self._tree.relabelled(selected.entry.id, label, when)
        self._arrange(selected.entry.id)
        return LabelChanged(selected.entry.id, label)

    def _arrange(self, selected: str | None) -> None:
        """Display entries that pass filter and search, and select an entry or its nearest displayed ancestor."""
        query = Query(self.field.text)

        def keep(entry: TreeEntry) -> bool:
            if not entry.passes(self._filter):
                return False
            return query.is_empty or query.rank(f"{entry.kind} {entry.label}", entry.text.lower()) is not None

        rows = self._tree.rows(keep, self._folded)
        self.choices.show(rows, self.field.text)
        displayed = {row.entry.id for row in rows}
        self._active = next((each for each in self._tree.above(self._tree.leaf) if each in displayed), None)
        nearest = next((each for each in self._tree.above(selected) if each in displayed), None)
        if nearest is not None:
            self.choices.select(nearest)


def _text(who: str, text: str, room: int, role: str, *, is_selected: bool) -> list[Run]:
    text = cut_text(f"{who}{text}", room)
    if not who or len(text) <= len(who):
        return [Run(text, role, bold=is_selected)]
    return [Run(who, role, bold=is_selected), Run(text[len(who) :], "text", bold=is_selected)]


_SPEAKERS = ("user", "assistant")

_ROLES = {"user": "accent", "assistant": "success", "tool": "muted", "bash": "bashMode", "summary": "warning"}

_FILTER_KEYS: dict[str, Filter] = {
    "app.tree.filter.default": "default",
    "app.tree.filter.noTools": "no-tools",
    "app.tree.filter.userOnly": "user-only",
    "app.tree.filter.labeledOnly": "labeled-only",
    "app.tree.filter.all": "all",
}

_FILTER_STEPS = {"app.tree.filter.cycleForward": 1, "app.tree.filter.cycleBackward": -1}

_PAGES = {"tui.editor.cursorLeft": "tui.select.pageUp", "tui.editor.cursorRight": "tui.select.pageDown"}
"""Keys that have nothing to do in an empty search, and what they do then."""

_HINTS: Sequence[Hint] = (
    ((*_PAGES,), "page"),
    (("app.tree.foldOrUp", "app.tree.unfoldOrDown"), "fold"),
    ("app.message.copy", "copy"),
    ("app.tree.editLabel", "label"),
    ("app.tree.toggleLabelTimestamp", "label times"),
    ((*_FILTER_KEYS,), "filters"),
    ("app.tree.filter.cycleForward", "next"),
    ("tui.select.confirm", "select"),
    ("tui.select.cancel", "cancel"),
)

_LABEL_HINTS: Sequence[Hint] = (
    ("tui.select.confirm", "save, remove if empty"),
    ("tui.select.cancel", "cancel"),
)

"""A session's tree as rows: filtering, indentation and branches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

__all__ = ["FILTERS", "Filter", "Tree", "TreeEntry", "TreeRow"]

Filter = Literal["default", "no-tools", "user-only", "labeled-only", "all"]

FILTERS: tuple[Filter, ...] = ("default", "no-tools", "user-only", "labeled-only", "all")

_DEEPEST = 60
"""Maximum cells of indentation: deeper branches are not indented further."""


class TreeEntry(NamedTuple):
    """An entry of a session.

    Attributes:
        id: Its id.
        parent: The id of the entry that it follows; None at the beginning.
        kind: The kind of entry; ``other`` is not part of the conversation, such as a change of the model.
        text: Its text on one line; empty for an answer that only calls tools.
        label: The user's label for it.
        labelled: When it was labelled, in displayed form.
    """

    id: str
    parent: str | None
    kind: Literal["user", "assistant", "tool", "bash", "custom", "summary", "other"]
    text: str
    label: str = ""
    labelled: str = ""

    def passes(self, wanted: Filter) -> bool:
        """Whether the entry passes a filter."""
        if wanted == "all":
            return True
        if wanted == "labeled-only":
            return bool(self.label)
        if wanted == "user-only":
            return self.kind == "user"
        if self.kind == "other" or (self.kind == "assistant" and not self.text):
            return False
        return wanted == "default" or self.kind != "tool"


class TreeRow(NamedTuple):
    """An entry with its position in the tree.

    Attributes:
        entry: The entry.
        lines: The lines before it: ``├⊟``, ``│``, ``└⊟``.
        starts_branch: Whether it has siblings, so that it begins a branch.
        has_below: Whether other entries follow it, even if they are folded.
    """

    entry: TreeEntry
    lines: str
    starts_branch: bool
    has_below: bool


class Tree:
    """The entries of a session.

    Args:
        entries: All entries, each after its parent.
        leaf: The id of the entry from which the session continues; None at the beginning.

    Attributes:
        path: The ids of the leaf and all its ancestors.
    """

    def __init__(self, entries: Iterable[TreeEntry], leaf: str | None) -> None:
        self._entries: dict[str, TreeEntry] = {}
        for entry in entries:
            known = entry.parent in self._entries
            self._entries[entry.id] = entry if known or entry.parent is None else entry._replace(parent=None)
        self.leaf = leaf
        self.path = {*self.above(leaf)}

    def above(self, entry_id: str | None) -> list[str]:
        """Return the ids of an entry and its ancestors, in that order."""
        ids = []
        while entry_id is not None and entry_id in self._entries:
            ids.append(entry_id)
            entry_id = self._entries[entry_id].parent
        return ids

    def is_here(self, entry_id: str) -> bool:
        """Whether the session already continues from an entry: only labels and model changes may follow it.

        For a message of the user, this is true only if it is the last entry; the session can always continue before it.
        """
        for each in self.above(self.leaf):
            kind = self._entries[each].kind
            if each == entry_id:
                return kind != "user" or each == self.leaf
            if kind != "other":
                break
        return False

    def relabelled(self, entry_id: str, label: str, when: str) -> Tree:
        """Return the tree with another label of an entry and the time of labelling."""
        entries = (
            entry._replace(label=label, labelled=when) if entry.id == entry_id else entry
            for entry in self._entries.values()
        )
        return Tree(entries, self.leaf)

    def rows(self, keep: Callable[[TreeEntry], bool], folded: Collection[str] = ()) -> list[TreeRow]:
        """Return rows of the entries to keep; children of an omitted entry move to its nearest kept ancestor.

        Args:
            keep: Returns whether an entry is displayed.
            folded: Ids of entries below which nothing is displayed.
        """
        below = self._below(keep)
        rows: list[TreeRow] = []
        stack = [*_branches(below.get(None, ()), "")]
        while stack:
            entry, connector, prefix, ahead = stack.pop()
            after = below.get(entry.id, ())
            lines = prefix
            if connector:
                sign = ("⊞" if entry.id in folded else "⊟") if after else "─"
                lines = f"{prefix}{connector}{sign} "
            rows.append(TreeRow(entry, lines, bool(connector), bool(after)))
            if entry.id not in folded or not connector:
                stack += _branches(after, ahead[:_DEEPEST])
        return rows

    def _below(self, keep: Callable[[TreeEntry], bool]) -> dict[str | None, list[TreeEntry]]:
        """Return the kept entries by their nearest kept ancestor; entries on the path come first."""
        kept_above: dict[str | None, str | None] = {None: None}
        below: dict[str | None, list[TreeEntry]] = {}
        for entry in self._entries.values():
            above = kept_above[entry.parent]
            if keep(entry):
                kept_above[entry.id] = entry.id
                siblings = below.setdefault(above, [])
                siblings.insert(0, entry) if entry.id in self.path else siblings.append(entry)
            else:
                kept_above[entry.id] = above
        return below


def _branches(entries: Sequence[TreeEntry], prefix: str) -> list[tuple[TreeEntry, str, str, str]]:
    """Return the entries from last to first, each with its connector, its prefix and the prefix of its children."""
    if len(entries) == 1:
        return [(entries[0], "", prefix, prefix)]
    return [
        (entry, "├" if place else "└", prefix, prefix + ("│  " if place else "   "))
        for place, entry in enumerate(reversed(entries))
    ]

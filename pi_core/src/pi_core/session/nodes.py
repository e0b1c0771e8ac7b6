"""Labels of entries, the name of the session, and the tree as nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from pi_core.session.tree import NO_ENTRY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_core.session.tree import SessionTree
    from pi_hookspecs import LabelEntry, SessionEntry, SessionInfoEntry

__all__ = ["Names", "TreeNode", "roots"]

_LABELS = ("label", "branch")
"""Types of entries that label another entry; ``branch`` is the older name."""


class Names:
    """Labels and the session's name; the latest of each on any branch is used.

    Args:
        tree: The session's entries.
    """

    def __init__(self, tree: SessionTree) -> None:
        self._tree = tree
        self._labels: dict[str, LabelEntry] | None = None
        self._name: SessionInfoEntry | None = None
        self._seen = 0

    @property
    def name(self) -> str | None:
        """The session's name; None if it has none."""
        tree = self._tree
        for number in range(len(tree) - 1, self._seen - 1, -1):
            if tree.type(number) == "session_info" and (entry := tree.entry(number)).type == "session_info":
                self._name = cast("SessionInfoEntry", entry)
                break
        self._seen = len(tree)
        return ((self._name.name or "").strip() or None) if self._name is not None else None

    def label(self, entry_id: str) -> str | None:
        """Return an entry's label; None if it has none."""
        entry = self._all_labels().get(entry_id)
        return entry.label if entry is not None else None

    def label_timestamp(self, entry_id: str) -> str | None:
        """Return the time of an entry's label; None if it has none."""
        entry = self._all_labels().get(entry_id)
        return entry.timestamp if entry is not None else None

    def labels(self) -> dict[str, str]:
        """Return all labels by the ids of their entries."""
        return {target: entry.label or "" for target, entry in self._all_labels().items()}

    def appended(self, entry: SessionEntry) -> None:
        """Update the labels after an entry was appended."""
        if self._labels is not None and entry.type == "label":
            _set_label(self._labels, cast("LabelEntry", entry))

    def _all_labels(self) -> dict[str, LabelEntry]:
        if self._labels is None:
            self._labels = {}
            for number in self._tree.of_type(*_LABELS):
                entry = self._tree.entry(number)
                if entry.type == "label":
                    _set_label(self._labels, cast("LabelEntry", entry))
        return self._labels


def _set_label(labels: dict[str, LabelEntry], entry: LabelEntry) -> None:
    if entry.label:
        labels[entry.target_id] = entry
    else:
        labels.pop(entry.target_id, None)


class TreeNode:
    """An entry in the tree, with its current children; implements ``SessionTreeNode``."""

    __slots__ = ("_names", "_number", "_tree")

    def __init__(self, tree: SessionTree, names: Names, number: int) -> None:
        self._tree = tree
        self._names = names
        self._number = number

    @property
    def id(self) -> str:
        """The entry's id."""
        return self._tree.id(self._number) or ""

    @property
    def type(self) -> str:
        """The entry's type."""
        return self._tree.type(self._number)

    @property
    def entry(self) -> SessionEntry:
        """The entry, parsed now if it was stored."""
        return self._tree.entry(self._number)

    @property
    def line(self) -> bytes:
        """The entry as a line of JSON, without its newline."""
        return self._tree.wire_line(self._number)

    @property
    def children(self) -> Sequence[TreeNode]:
        """The entries that follow it, in the order in which they were appended."""
        return [TreeNode(self._tree, self._names, child) for child in self._tree.children(self._number)]

    @property
    def label(self) -> str | None:
        """The entry's label; None if it has none."""
        return self._names.label(self.id)

    @property
    def label_timestamp(self) -> str | None:
        """When it was labelled."""
        return self._names.label_timestamp(self.id)

    def __repr__(self) -> str:
        return f"<TreeNode {self.type} {self.id}>"


def roots(tree: SessionTree, names: Names) -> Sequence[TreeNode]:
    """Return the roots of the tree."""
    return [TreeNode(tree, names, number) for number in tree.children(NO_ENTRY)]

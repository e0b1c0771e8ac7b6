"""A session's tree for the page: numbered entries with their parents, and the active branch.

The page identifies entries by number, because ids are untrusted strings of the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from pi_hookspecs import AssistantMessage, LabelEntry, MessageEntry, ToolResultMessage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pi_hookspecs import SessionEntry, SessionView, ToolCall

__all__ = ["NOWHERE", "Outline", "outline"]

NOWHERE = -1
"""Parent number of a root."""


@frozen(eq=False)
class Outline:
    """All entries of a session, oldest first.

    Attributes:
        entries: The entries; a number is an index of this list.
        parents: The parent's number of each entry, always a smaller one.
        children: The numbers of the children of each, and of the roots under ``NOWHERE``.
        active: The numbers of the current branch.
        leaf: The last of them.
        labels: Labels of entries.
        calls: Answer and call for each tool result.
        results: The inverse of ``calls``; a result without a call is rendered separately.
    """

    entries: Sequence[SessionEntry]
    parents: Sequence[int]
    children: Mapping[int, Sequence[int]]
    active: frozenset[int]
    leaf: int
    labels: Mapping[int, str]
    calls: Mapping[int, tuple[int, ToolCall]]
    results: Mapping[tuple[int, str], int]

    def walk(self) -> Iterator[tuple[int, int]]:
        """Yield every number and its depth: side branches first and one level deeper, then the main branch."""
        waiting = [(root, 0) for root in reversed(self.children.get(NOWHERE, ()))]
        while waiting:
            number, depth = waiting.pop()
            yield number, depth
            children = self.children.get(number, ())
            if not children:
                continue
            main = next((child for child in children if child in self.active), children[-1])
            waiting.append((main, depth))
            waiting += [(child, depth + 1) for child in reversed(children) if child != main]


def outline(session: SessionView) -> Outline:
    """Return the outline of a session, in one pass."""
    branch = session.branch()  # first: entries that are appended meanwhile are only in the list
    entries = list(session.entries())
    numbers = {entry.id: number for number, entry in enumerate(entries)}
    parents, children = _tree(entries, numbers)
    leaf = numbers.get(branch[-1].id, NOWHERE) if branch else NOWHERE
    active = frozenset(_path_to(leaf, parents))  # also the records, which the branch is without
    if len(active) < len(branch):  # a damaged file, in which an entry is before its parent
        active |= {numbers[entry.id] for entry in branch if entry.id in numbers}
    labelled = {entry.target_id for entry in entries if isinstance(entry, LabelEntry)} & numbers.keys()
    labels = {numbers[entry_id]: label for entry_id in labelled if (label := session.label(entry_id))}
    calls, results = _pairs(entries, parents)
    return Outline(
        entries=entries,
        parents=parents,
        children=children,
        active=active,
        leaf=leaf,
        labels=labels,
        calls=calls,
        results=results,
    )


def _tree(entries: Sequence[SessionEntry], numbers: Mapping[str, int]) -> tuple[list[int], dict[int, list[int]]]:
    parents: list[int] = []
    children: dict[int, list[int]] = {}
    for number, entry in enumerate(entries):
        parent = numbers.get(entry.parent_id, NOWHERE) if entry.parent_id is not None else NOWHERE
        parent = parent if parent < number else NOWHERE  # in a damaged file: a cycle, or an entry before its parent
        parents.append(parent)
        children.setdefault(parent, []).append(number)
    return parents, children


def _path_to(number: int, parents: Sequence[int]) -> Iterator[int]:
    while number != NOWHERE:
        yield number
        number = parents[number]


def _pairs(
    entries: Sequence[SessionEntry], parents: Sequence[int]
) -> tuple[dict[int, tuple[int, ToolCall]], dict[tuple[int, str], int]]:
    """Match every result to its call: in the nearest answer before it on its branch, because providers reuse ids."""
    calls: dict[int, tuple[int, ToolCall]] = {}
    results: dict[tuple[int, str], int] = {}
    answers: list[int] = []  # the nearest answer of each entry towards the root
    for number, entry in enumerate(entries):
        before = answers[parents[number]] if parents[number] != NOWHERE else NOWHERE
        message = entry.message if isinstance(entry, MessageEntry) else None
        answers.append(number if isinstance(message, AssistantMessage) else before)
        if isinstance(message, ToolResultMessage) and before != NOWHERE:
            call = _call(entries[before], message.tool_call_id)
            if call is not None and (before, call.id) not in results:
                calls[number], results[before, call.id] = (before, call), number
    return calls, results


def _call(entry: SessionEntry, call_id: str) -> ToolCall | None:
    message = entry.message if isinstance(entry, MessageEntry) else None
    calls = message.tool_calls if isinstance(message, AssistantMessage) else ()
    return next((call for call in calls if call.id == call_id), None)

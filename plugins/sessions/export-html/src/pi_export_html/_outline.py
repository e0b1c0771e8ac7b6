"""A session's entries as the page needs them: numbered, each with the one that it follows, and which are active.

The page knows entries by their numbers: ids are texts of the file, which may hold anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from pi_hookspecs import AssistantMessage, MessageEntry, ToolResultMessage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pi_hookspecs import SessionEntry, SessionView, ToolCall

__all__ = ["NOWHERE", "Outline", "outline"]

NOWHERE = -1
"""The number of the entry that a root follows."""


@frozen(eq=False)
class Outline:
    """All entries of a session, oldest first.

    Attributes:
        entries: The entries; a number is a place in them.
        parents: The number of the entry that each follows, always a smaller one.
        children: The numbers of the entries that follow each, and of the roots under ``NOWHERE``.
        active: The numbers of the branch that the conversation is on.
        leaf: The last of them.
        labels: What the user calls entries.
        calls: Of each result of a tool, the answer and the call that it is for.
        results: The same the other way round; a result that is not there is shown on its own.
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
        """Yield every number and how deep it stands: side branches first and one deeper, then the way goes on."""
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
    """Look through a session once."""
    branch = [entry.id for entry in session.branch()]  # first: entries that come meanwhile are in the list at most
    entries = list(session.entries())
    numbers = {entry.id: number for number, entry in enumerate(entries)}
    parents, children = _tree(entries, numbers)
    active = [numbers[entry_id] for entry_id in branch if entry_id in numbers]
    leaf = active[-1] if active else NOWHERE
    labels = {number: label for entry_id, number in numbers.items() if (label := session.label(entry_id))}
    calls, results = _pairs(entries, parents)
    return Outline(
        entries=entries,
        parents=parents,
        children=children,
        active=frozenset((*active, *_way_to(leaf, parents))),  # the branch comes without records
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
        parent = parent if parent < number else NOWHERE  # of a damaged file: a circle, or an entry before its parent
        parents.append(parent)
        children.setdefault(parent, []).append(number)
    return parents, children


def _way_to(number: int, parents: Sequence[int]) -> Iterator[int]:
    while number != NOWHERE:
        yield number
        number = parents[number]


def _pairs(
    entries: Sequence[SessionEntry], parents: Sequence[int]
) -> tuple[dict[int, tuple[int, ToolCall]], dict[tuple[int, str], int]]:
    """Find the call of every result: in the answer before it on its branch, for providers use their ids again."""
    calls: dict[int, tuple[int, ToolCall]] = {}
    results: dict[tuple[int, str], int] = {}
    answers: list[int] = []  # of each entry, the nearest answer on the way to the root
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

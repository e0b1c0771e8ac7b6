"""``SessionTree``: the parents of entries, and the leaf that the next entry follows.

Entries come in two parts: those that were stored when the session was opened, parsed when they are read, and those
appended since. Inside the package an entry is identified by its number, its index in this order.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, cast, overload

from pi_core.session.copies import copy_entry
from pi_hookspecs.errors import UserError
from pi_hookspecs.session_store import EntryIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pi_hookspecs import AgentMessage, IndexedEntries, SessionEntry

__all__ = ["DAMAGED", "NO_ENTRY", "Entries", "SessionTree", "tree_problems"]

DAMAGED = "damaged"
"""Type of an entry that replaces a damaged entry (``IndexedEntries``), and role of its message."""

NO_ENTRY = -1
"""The number for no entry: the parent of a root, the leaf of an empty tree."""


class SessionTree:
    """The entries of a session, by number and by id.

    Any content of a file gives a valid tree: an id refers to the last entry with that id, an entry whose parent is
    missing is a root, and cycles of parents are broken.

    Args:
        stored: The entries to begin with, oldest first. The last of them is the leaf.

    Attributes:
        leaf: Number of the entry that the next entry follows.
        system: Numbers of the messages with role ``system``, possibly with some other messages.
        repeated_ids: Number of stored entries with an id that a later one has too.
        missing_parents: Number of stored entries whose parent is not among them.
        knows_system: Whether ``system`` is complete; otherwise a message must be read to know its role.
        token: Stands for the tree, for those who must not keep it in memory.
    """

    def __init__(self, stored: Sequence[SessionEntry] | IndexedEntries = ()) -> None:
        index = _index_of(stored)
        self._stored = stored
        self._parses = isinstance(getattr(stored, "index", None), EntryIndex)
        self._read_message: Callable[[int], AgentMessage | None] | None = getattr(stored, "message", None)
        self._read_line: Callable[[int], bytes | None] | None = getattr(stored, "line", None)
        self._read_message_line: Callable[[int], bytes | None] | None = getattr(stored, "message_line", None)
        self._appended: list[SessionEntry] = []
        self._ids = list(index.ids)
        self._stored_count = len(self._ids)
        self._types = list(index.types)
        self._numbers = {entry_id: number for number, entry_id in enumerate(self._ids)}
        number_of = self._numbers.get
        self._parents = array("q", [number_of(parent, NO_ENTRY) for parent in index.parent_ids])  # type: ignore[arg-type]
        self.missing_parents = self._parents.count(NO_ENTRY) - list(index.parent_ids).count(None)
        for closing in cycle_ends(self._parents):
            self._parents[closing] = NO_ENTRY
        self._siblings: _Siblings | None = None
        self._path: list[int] | None = None
        self.token = object()
        self.leaf = len(self._ids) - 1
        self.knows_system = not self._parses or index.system is not None
        self.system = set(index.system or ())
        self.repeated_ids = len(self._ids) - len(self._numbers)

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self._numbers

    # One entry, by its id

    def get(self, entry_id: str) -> SessionEntry | None:
        """Return the entry with this id; None if there is none."""
        number = self.number(entry_id)
        return None if number == NO_ENTRY else self.entry(number)

    def get_children(self, parent_id: str | None) -> list[SessionEntry]:
        """Return the entries that follow an entry, oldest first; for None, the roots."""
        number = NO_ENTRY if parent_id is None else self.number(parent_id)
        if parent_id is not None and number == NO_ENTRY:
            return []
        return [self.entry(child) for child in self.children(number)]

    def leaf_entry(self) -> SessionEntry | None:
        """Return the leaf entry; None if the next entry will be a root."""
        return None if self.leaf == NO_ENTRY else self.entry(self.leaf)

    def move_to(self, entry_id: str) -> None:
        """Make an earlier entry the leaf, which the next entry follows; no entry is changed or removed.

        Raises:
            UserError: There is no such entry.
        """
        self.move(self.require(entry_id))

    def move_to_start(self) -> None:
        """Move the leaf before the first entry, so that the next entry is a new root."""
        self.move(NO_ENTRY)

    def require(self, entry_id: str) -> int:
        """Return the number of an entry.

        Raises:
            UserError: There is no such entry.
        """
        number = self.number(entry_id)
        if number == NO_ENTRY:
            raise UserError(f"Entry ID not found: {entry_id!r}")
        return number

    # One entry, by its number

    def number(self, entry_id: str) -> int:
        """Return the number of an entry; ``NO_ENTRY`` for an unknown id."""
        return self._numbers.get(entry_id, NO_ENTRY)

    def id(self, number: int) -> str | None:
        """Return an entry's id; None for ``NO_ENTRY``."""
        return None if number == NO_ENTRY else self._ids[number]

    def type(self, number: int) -> str:
        """Return an entry's type, without parsing it."""
        return self._types[number]

    def parent(self, number: int) -> int:
        """Return the number of the entry that an entry follows."""
        return self._parents[number]

    def entry(self, number: int) -> SessionEntry:
        """Return a copy of an entry, parsed now if it was stored."""
        if number >= self._stored_count:
            return copy_entry(self._appended[number - self._stored_count])
        return self._stored[number] if self._parses else copy_entry(self._stored[number])

    def stored_message(self, number: int) -> AgentMessage | None:
        """Return an entry's message if the store can read it without the entry; else None."""
        read = self._read_message
        return read(number) if read is not None and number < self._stored_count else None

    def wire_line(self, number: int) -> bytes:
        """Return an entry as a line of JSON without its newline: as it is stored, if the store says that it may be."""
        read = self._read_line
        line = read(number) if read is not None and number < self._stored_count else None
        if line is not None:
            return line
        from pi_core.wire import dumps

        return dumps(self.entry(number))

    def message_line(self, number: int) -> bytes | None:
        """Return an entry's message as JSON, as it is stored; None if the store does not say that it may be."""
        read = self._read_message_line
        return read(number) if read is not None and number < self._stored_count else None

    def append(self, entry: SessionEntry) -> int:
        """Add an entry and make it the leaf."""
        number = len(self._ids)
        parent = NO_ENTRY if entry.parent_id is None else self.number(entry.parent_id)
        self._appended.append(entry)
        self._ids.append(entry.id)
        self._types.append(entry.type)
        if _is_system(entry):
            self.system.add(number)
        self._parents.append(parent)
        self._numbers[entry.id] = number
        if self._siblings is not None:
            self._siblings.add(parent)
        if self._path is not None:
            if parent == self.leaf:
                self._path.append(number)
            else:
                self._path = None
        self.leaf = number
        return number

    # Many

    def entries(self) -> Entries:
        """Return a snapshot of all entries, oldest first."""
        return Entries(self, range(len(self)), len(self))

    def move(self, leaf: int) -> None:
        """Set the leaf, which the next entry follows."""
        if leaf != self.leaf:
            self.leaf, self._path = leaf, None

    def path(self) -> Sequence[int]:
        """Return the numbers from the root to the leaf. The list grows with the branch; do not change it."""
        if self._path is None:
            self._path = self.path_to(self.leaf)
        return self._path

    def path_to(self, number: int) -> list[int]:
        """Return the numbers from the root to an entry."""
        path: list[int] = []
        parents = self._parents
        while number != NO_ENTRY:  # cycles were broken
            path.append(number)
            number = parents[number]
        path.reverse()
        return path

    def branch(self, number: int | None = None) -> Entries:
        """Return the entries from the root to an entry, or to the leaf."""
        path = self.path() if number is None or number == self.leaf else self.path_to(number)
        return Entries(self, path, len(path), "branch")

    def without_records(self, path: Sequence[int]) -> Entries:
        """Return the entries of a path from the root that is without its records of prompt and tools."""
        return Entries(self, path, len(path), "branch without records")

    def children(self, number: int) -> Sequence[int]:
        """Return the numbers of the entries that follow an entry, oldest first; for ``NO_ENTRY``, the roots."""
        if self._siblings is None:
            self._siblings = _Siblings(self._parents)
        return list(self._siblings.children(number))

    def of_type(self, *types: str) -> Iterator[int]:
        """Yield the numbers of all entries of these types, oldest first."""
        return (number for number, each in enumerate(self._types) if each in types)


class _Siblings:
    """The children of each entry as linked lists in arrays: 100,000 lists would slow down the garbage collector."""

    def __init__(self, parents: Sequence[int]) -> None:
        self._first = array("q", [NO_ENTRY])  # of NO_ENTRY, then of entry 0, 1, 2 ...
        self._last = array("q", [NO_ENTRY])
        self._next = array("q")
        for _ in parents:
            self._first.append(NO_ENTRY)
            self._last.append(NO_ENTRY)
        for parent in parents:
            self._link(parent)

    def add(self, parent: int) -> None:
        """Add an entry."""
        self._first.append(NO_ENTRY)
        self._last.append(NO_ENTRY)
        self._link(parent)

    def children(self, number: int) -> Iterator[int]:
        """Yield the entries that follow an entry, oldest first."""
        child = self._first[number + 1]
        while child != NO_ENTRY:
            yield child
            child = self._next[child]

    def _link(self, parent: int) -> None:
        number = len(self._next)
        self._next.append(NO_ENTRY)
        if (previous := self._last[parent + 1]) == NO_ENTRY:
            self._first[parent + 1] = number
        else:
            self._next[previous] = number
        self._last[parent + 1] = number


class Entries(Sequence["SessionEntry"]):
    """A snapshot of entries of a tree; each is parsed when it is read.

    Args:
        tree: The tree.
        numbers: The numbers of the entries. The list may grow with the branch; the length of the snapshot is fixed.
        length: How many of them belong to the snapshot.
        rule: What the numbers are, if the last of them and the length determine all others: the path from a root, for
            example. None if there is no such rule.
    """

    def __init__(self, tree: SessionTree, numbers: Sequence[int], length: int, rule: str | None = None) -> None:
        self._tree = tree
        self._numbers = numbers
        self._length = length
        self._rule = f"from {numbers.start} by {numbers.step}" if isinstance(numbers, range) else rule

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, place: int) -> SessionEntry: ...
    @overload
    def __getitem__(self, place: slice) -> Entries: ...
    def __getitem__(self, place: int | slice) -> SessionEntry | Entries:
        if isinstance(place, slice):
            part = range(*place.indices(self._length))
            whole = self._numbers
            numbers = whole[place] if isinstance(whole, range) else [whole[each] for each in part]
            return Entries(self._tree, numbers, len(numbers))
        return self._tree.entry(self._numbers[range(self._length)[place]])

    def __iter__(self) -> Iterator[SessionEntry]:
        return map(self._tree.entry, islice(self._numbers, self._length))

    def __reversed__(self) -> Iterator[SessionEntry]:
        return map(self._tree.entry, map(self._numbers.__getitem__, range(self._length - 1, -1, -1)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Entries | list | tuple):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{self._length} entries>"

    def lines(self) -> Iterator[bytes]:
        """Yield each entry as a line of JSON, without its newline."""
        return map(self._tree.wire_line, islice(self._numbers, self._length))

    def beginning(self, length: int) -> object:
        """Return a value that is equal only to that of entries that begin with the same so many; it reads none."""
        if self._rule is None:
            return self._tree.token, tuple(islice(self._numbers, length))
        return self._tree.token, self._rule, length, self._numbers[length - 1] if length else NO_ENTRY

    def after(self, entry_id: str) -> Entries | None:
        """Return the entries after the entry with this id, without parsing them; None if no entry has this id."""
        numbers = islice(self._numbers, self._length)
        place = next((place for place, number in enumerate(numbers, 1) if self._tree.id(number) == entry_id), None)
        return None if place is None else self[place:]

    def of_type(self, *types: str) -> Iterator[SessionEntry]:
        """Yield the entries of these types; the others are not parsed."""
        numbers = islice(self._numbers, self._length)
        return (self._tree.entry(number) for number in numbers if self._tree.type(number) in types)


def cycle_ends(parents: Sequence[int]) -> set[int]:
    """Return one entry of each cycle of parents: the last one on the walk from the cycle's newest entry."""
    if all(parent < number for number, parent in enumerate(parents)):
        return set()
    done: set[int] = set()
    cycles: set[int] = set()
    for start in reversed(range(len(parents))):
        walked: dict[int, int] = {}  # for each entry, the previous entry of the walk
        before, number = NO_ENTRY, start
        while number != NO_ENTRY and number not in done and number not in walked:
            walked[number] = before
            before, number = number, parents[number]
        if number in walked:
            cycles.add(before)
        done.update(walked)
    return cycles


def tree_problems(entries: Sequence[SessionEntry] | IndexedEntries) -> list[str]:
    """Return the problems of a session's tree, one sentence each; an empty list for a valid tree."""
    index = _index_of(entries)
    numbers: dict[str, int] = {}
    problems = []
    for number, entry_id in enumerate(index.ids):
        if entry_id in numbers:
            problems.append(f"Entry {number + 1} has the id {entry_id!r} of entry {numbers[entry_id] + 1}.")
        numbers[entry_id] = number
    parents = []
    for number, parent in enumerate(index.parent_ids):
        parents.append(NO_ENTRY if parent is None else numbers.get(parent, NO_ENTRY))
        if parent is not None and parent not in numbers:
            problems.append(f"Entry {index.ids[number]!r} follows {parent!r}, which is missing.")
    closing = sorted(cycle_ends(parents))
    return [*problems, *(f"Entry {index.ids[number]!r} follows itself, in a cycle." for number in closing)]


def _index_of(entries: Sequence[SessionEntry] | IndexedEntries) -> EntryIndex:
    index = getattr(entries, "index", None)  # a list has a method of that name
    if isinstance(index, EntryIndex):
        return index
    known = cast("Sequence[SessionEntry]", entries)
    return EntryIndex(
        ids=[each.id for each in known],
        parent_ids=[each.parent_id for each in known],
        types=[each.type for each in known],
        system=[number for number, each in enumerate(known) if _is_system(each)],
    )


def _is_system(entry: SessionEntry) -> bool:
    return entry.type == "message" and getattr(getattr(entry, "message", None), "role", None) == "system"

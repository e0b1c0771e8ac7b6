"""Stored sessions as rows of a list: filtering, order, and the tree of forks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from pi_tui.selectors.query import Query

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Placed", "SessionRow", "SortMode", "arranged"]

SortMode = Literal["threaded", "recent", "relevance"]


_DEEPEST = 60
"""Maximum cells of indentation: deeper forks, of which there may be thousands, are not indented further."""


class SessionRow(NamedTuple):
    """A stored session.

    Attributes:
        path: The path of its file, which identifies it.
        title: Its name, or its first message if it has no name.
        modified: Time of its last message, in seconds since 1970.
        messages: Number of its messages.
        is_named: Whether the title is a name that the user gave.
        cwd: The working directory in its displayed form.
        parent: Path of the session that it was forked from.
        is_current: Whether it is the open session.
        text: Text of its messages for searching, in lower case; words are separated by single spaces.
    """

    path: str
    title: str
    modified: float
    messages: int = 0
    is_named: bool = False
    cwd: str = ""
    parent: str | None = None
    is_current: bool = False
    text: str = ""

    @property
    def searched(self) -> str:
        """The text that can be searched before the messages are read."""
        return f"{self.title} {self.cwd}"


class Placed(NamedTuple):
    """A row and the lines before it, such as ``├─`` for a fork of the session above."""

    row: SessionRow
    lines: str = ""


def arranged(rows: Iterable[SessionRow], typed: str, sort: SortMode, *, only_named: bool) -> list[Placed]:
    """Return the matching rows in order. Without a search, ``threaded`` puts forks below their original session."""
    kept = [row for row in rows if row.is_named or not only_named]
    query = Query(typed)
    if query.is_empty:
        newest = sorted(kept, key=lambda row: -row.modified)
        return _threads(newest) if sort == "threaded" else [Placed(row) for row in newest]
    ranked = [(rank, row) for row in kept if (rank := query.rank(row.searched, row.text)) is not None]
    by_time = sort == "recent"
    ranked.sort(key=lambda pair: (0 if by_time else pair[0], -pair[1].modified))
    return [Placed(row) for _, row in ranked]


def _threads(newest: Sequence[SessionRow]) -> list[Placed]:
    """Return trees of sessions; the tree with the latest session comes first."""
    paths = {row.path for row in newest}
    children: dict[str | None, list[SessionRow]] = {}
    for row in newest:
        parent = row.parent if row.parent in paths and row.parent != row.path else None
        children.setdefault(parent, []).append(row)
    latest = _latest(newest, children)
    placed: list[Placed] = []
    seen: set[str] = set()

    def walk(roots: Sequence[SessionRow]) -> None:
        stack = [(row, "", "") for row in sorted(roots, key=lambda row: latest[row.path])]
        while stack:
            row, lines, prefix = stack.pop()
            if row.path in seen:
                continue
            seen.add(row.path)
            placed.append(Placed(row, lines))
            below = sorted(children.get(row.path, ()), key=lambda each: latest[each.path])
            prefix = prefix[:_DEEPEST]
            stack += [
                (each, prefix + ("├─ " if place else "└─ "), prefix + ("│  " if place else "   "))
                for place, each in enumerate(below)
            ]

    walk(children.get(None, []))
    if len(seen) < len(newest):  # some files name each other as their parents
        for row in newest:
            walk([row])
    return placed


def _latest(newest: Sequence[SessionRow], children: dict[str | None, list[SessionRow]]) -> dict[str, float]:
    """Return for each session when it or one of its forks was last used."""
    parents = {row.path: parent for parent, rows in children.items() for row in rows}
    latest: dict[str, float] = {}
    for row in newest:
        path: str | None = row.path
        while path is not None and path not in latest:  # newest first: a value that is set is never earlier
            latest[path] = row.modified
            path = parents.get(path)
    return latest

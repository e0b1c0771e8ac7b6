"""The checkpoints that a session's entries name, and the changes between them."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from pi_hookspecs import CustomEntry, MessageEntry, UserError, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_hookspecs import SessionEntry
    from pi_rewind._checkpoints import Change, Checkpoints
    from pi_rewind._restore import Restored

__all__ = [
    "ENTRY",
    "Point",
    "Points",
    "counted",
    "described",
    "missing_ignored",
    "refuse_own_changes",
    "restore_files",
    "rows_of",
    "undo_files",
]

ENTRY = "rewind"
"""Type of the custom entries: ``kind`` is ``before`` (a prompt, ``entry``), ``after`` (a turn) or ``restored``."""
_FIRST_WORDS = 60
_UNITS = (("d", 86_400), ("h", 3600), ("m", 60))
_NAMED = 10
"""Paths that an error lists."""


@frozen
class Point:
    """The state before a prompt.

    Attributes:
        entry: The id of the prompt's entry.
        tree: The tree of the files before it.
        text: The beginning of the prompt.
        timestamp: When it was sent.
        ignored: The list of ignored files that existed; None without any.
    """

    entry: str
    tree: str
    text: str
    timestamp: str
    ignored: str | None = None


@frozen
class Points:
    """What a session's entries record.

    Attributes:
        points: One for each prompt with a checkpoint, oldest first.
        last: The tree that was recorded last; None without any.
        restored: The data of the last restore, unless it was undone.
    """

    points: tuple[Point, ...] = ()
    last: str | None = None
    restored: dict[str, Any] | None = field(default=None)

    @classmethod
    def of(cls, entries: Iterable[SessionEntry], branch: Sequence[SessionEntry]) -> Points:
        """Read entries.

        Args:
            entries: All of the session; restores are found on every branch.
            branch: The entries of the branch to whose prompts one can return.
        """
        last, restored = None, None
        for data in filter(None, map(_data, entries)):
            last = str(data.get("tree"))
            if data.get("kind") == "restored":
                restored = None if data.get("undid") else data
        prompts = {each.id: each for each in branch if isinstance(each, MessageEntry)}
        points = []
        for data in filter(None, map(_data, branch)):
            prompt = prompts.get(str(data.get("entry")))
            if data.get("kind") == "before" and prompt is not None:
                words = " ".join(text_of(getattr(prompt.message, "content", "")).split())
                points.append(
                    Point(prompt.id, str(data["tree"]), words[:_FIRST_WORDS], prompt.timestamp, data.get("ignored"))
                )
        return cls(tuple(points), last, restored)

    def find(self, entry: str) -> Point:
        """Return the point of a prompt by its id or a prefix of it.

        Raises:
            UserError: There is none, or several.
        """
        found = [each for each in self.points if each.entry.startswith(entry)]
        if len(found) != 1:
            known = ", ".join(each.entry for each in self.points) or "none"
            many = "several prompts have" if found else "no prompt has"
            raise UserError(f"{many.capitalize()} a checkpoint and the id {entry!r}. There are: {known}.")
        return found[0]


def rows_of(points: Points, checkpoints: Checkpoints, now: datetime) -> list[str]:
    """Return a line for each point, oldest first: id, age, number of files changed since, start of the prompt.

    Raises:
        GitFailed: git is missing.
    """
    trees = [*(each.tree for each in points.points[1:]), points.last or ""]
    cells = []
    for point, after in zip(points.points, trees, strict=True):
        stored = checkpoints.has(point.tree) and checkpoints.has(after)
        files = counted(len(checkpoints.changes(point.tree, after))) if stored else "no longer stored"
        cells.append((point.entry, _age(now, point.timestamp), files, point.text))
    widths = [max(map(len, column), default=0) for column in zip(*cells, strict=True)]
    return [f"{entry}  {age:>{widths[1]}}  {files:>{widths[2]}}  {text}" for entry, age, files, text in cells]


def _age(now: datetime, timestamp: str) -> str:
    """Return how long ago something was, in one unit: ``now``, ``5m``, ``2d``."""
    seconds = (now - datetime.fromisoformat(timestamp)).total_seconds()
    return next((f"{int(seconds // each)}{unit}" for unit, each in _UNITS if seconds >= each), "now")


def restore_files(
    checkpoints: Checkpoints, points: Points, point: Point, *, force: bool = False, now: str | None = None
) -> Restored:
    """Restore the files to a point.

    Args:
        checkpoints: The work tree's checkpoints.
        points: The session's points.
        point: The target.
        force: Whether to overwrite the user's own changes.
        now: The tree of the current files, if it was just made.

    Raises:
        UserError: The user has changed files since the last checkpoint that would be overwritten, without ``force``.
        NotRestored: The checkpoint is gone, or something is in the way.
    """
    return _restore(checkpoints, None if force else points.last, point.tree, now)


def undo_files(checkpoints: Checkpoints, points: Points, *, force: bool = False) -> Restored:
    """Undo the last restore.

    Raises:
        UserError: Nothing was restored; or as above.
        NotRestored: As above.
    """
    if points.restored is None:
        raise UserError("Nothing was rewound in this session that could be undone.")
    last = None if force else str(points.restored["tree"])
    return _restore(checkpoints, last, str(points.restored["undo"]), None)


def _restore(checkpoints: Checkpoints, last: str | None, wanted: str, now: str | None) -> Restored:
    """Restore a tree; changes since the last tree must not be lost, unless that is None."""
    from pi_rewind._restore import restore

    now = now or checkpoints.make().tree
    if last is not None:
        refuse_own_changes(checkpoints, last, wanted, now)
    return restore(checkpoints, wanted, now)


def refuse_own_changes(checkpoints: Checkpoints, last: str, wanted: str, now: str) -> None:
    """Refuse to overwrite what the user has changed since the last tree.

    Raises:
        UserError: There is such a file.
    """
    if not (checkpoints.has(last) and checkpoints.has(wanted)):
        return  # ``restore`` says what is missing
    own = {each.path for each in checkpoints.changes(last, now)}
    lost = sorted(own & {each.path for each in checkpoints.changes(now, wanted)})
    if lost:
        raise UserError(
            f"Changed since the last checkpoint, and not by pi: {_named(lost)}. These changes would"
            " be lost (undo brings them back). Add --force to continue."
        )


def missing_ignored(checkpoints: Checkpoints, point: Point) -> str | None:
    """Describe for the user which ignored files were deleted since a point; None without any."""
    lost = checkpoints.lost_ignored(point.ignored)
    if not lost:
        return None
    return (
        f"Ignored files that were deleted since, and that no checkpoint holds: {_named(lost)}."
        " The setting rewind.include stores the contents of such files from now on."
    )


def _named(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return f"{', '.join(paths[:_NAMED])}{more}"


def counted(number: int) -> str:
    """Return a number of files in words."""
    return "1 file" if number == 1 else f"{number:,} files"


def described(changes: Sequence[Change]) -> str:
    """Return changes as lines: ``M a.py``; the first fifty of them."""
    lines = [f"{each.kind} {each.path}" for each in changes[:50]]
    if len(changes) > len(lines):
        lines.append(f"and {len(changes) - len(lines)} more")
    return "\n".join(lines)


def _data(entry: SessionEntry) -> dict[str, Any] | None:
    """Return the data of an entry of this plugin."""
    if isinstance(entry, CustomEntry) and entry.custom_type == ENTRY and isinstance(entry.data, dict):
        return entry.data
    return None

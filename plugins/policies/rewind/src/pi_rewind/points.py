"""The checkpoints that a session's entries name, and the changes between them."""

from __future__ import annotations

import os
import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from pi_hookspecs import CustomEntry, MessageEntry, UserError, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pi_hookspecs import SessionEntry
    from pi_rewind.checkpoints import Change, Checkpoints
    from pi_rewind.restore import Restored

__all__ = [
    "ENTRY",
    "Point",
    "Points",
    "counted",
    "described",
    "not_covered",
    "readable",
    "refuse_own_changes",
    "restore_files",
    "rows_of",
    "undo_files",
]

ENTRY = "rewind"
"""Type of the custom entries: ``kind`` is ``before`` (a prompt, ``entry``), ``after`` (a turn) or ``restored``."""
_FIRST_WORDS = 60
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
        left_out: Files and repositories in the work tree that its checkpoint does not contain; the first twenty.
    """

    entry: str
    tree: str
    text: str
    timestamp: str
    ignored: str | None = None
    left_out: tuple[str, ...] = ()


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
            if "tree" not in data:  # the conversation alone went back
                continue
            last = data["tree"]
            if data.get("kind") == "restored" and "undo" in data:
                restored = None if data.get("undid") else data
        prompts = {each.id: each for each in branch if isinstance(each, MessageEntry)}
        points: dict[str, Point] = {}
        for data in filter(None, map(_data, branch)):
            prompt = prompts.get(str(data.get("entry")))
            if data.get("kind") == "before" and "tree" in data and prompt is not None:
                words = " ".join(text_of(getattr(prompt.message, "content", "")).split())
                about = (data.get("ignored"), tuple(data.get("leftOut", ())))
                first = words if len(words) <= _FIRST_WORDS else f"{words[: _FIRST_WORDS - 1]}…"
                points[prompt.id] = Point(prompt.id, data["tree"], first, prompt.timestamp, *about)
        return cls(tuple(points.values()), last, restored)

    def find(self, entry: str) -> Point:
        """Return the point of a prompt by its id or a prefix of it.

        Raises:
            UserError: There is none, or several.
        """
        found = [each for each in self.points if each.entry.startswith(entry)]
        if len(found) != 1:
            known = ", ".join(each.entry for each in self.points) or "none"
            many = "several prompts have" if found else "no prompt has"
            raise UserError(f"{many.capitalize()} a checkpoint and the id {entry!r}. These have: {known}.")
        return found[0]


def rows_of(points: Points, checkpoints: Checkpoints, now: datetime) -> list[str]:
    """Return a line for each point, oldest first: id, age, number of files that returning changes, start of the prompt.

    Raises:
        GitFailed: git is missing.
    """
    from pi_core import one_line

    last = points.last or ""
    has_last = checkpoints.has(last)
    cells = []
    for point in points.points:
        stored = has_last and checkpoints.has(point.tree)
        files = counted(checkpoints.changes(point.tree, last)) if stored else "no longer stored"
        cells.append((point.entry, _age(now, point.timestamp), files, one_line(point.text)))
    widths = [max(map(len, column), default=0) for column in zip(*cells, strict=True)]
    return [f"{entry}  {age:>{widths[1]}}  {files:>{widths[2]}}  {text}" for entry, age, files, text in cells]


def _age(now: datetime, timestamp: str) -> str:
    """Return how long ago something was."""
    from pi_terminal_kit.words import age

    return age((now - datetime.fromisoformat(timestamp)).total_seconds())


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
    return _restore(checkpoints, None if force else points.last, point.tree, now, entry=point.entry)


def undo_files(checkpoints: Checkpoints, points: Points, *, force: bool = False) -> Restored:
    """Undo the last restore.

    Raises:
        UserError: Nothing was restored; or as above.
        NotRestored: As above.
    """
    if points.restored is None:
        raise UserError("Nothing was rewound in this session that could be undone.")
    tree: str = points.restored["tree"]
    return _restore(checkpoints, None if force else tree, points.restored["undo"], None, undone=tree)


def _restore(
    checkpoints: Checkpoints, last: str | None, wanted: str, now: str | None, *, entry: str = "", undone: str = ""
) -> Restored:
    """Restore a tree; changes since the last tree must not be lost, unless that is None."""
    from pi_rewind.restore import restore

    if now is None and checkpoints.has(wanted):
        now = checkpoints.make(covering=wanted).tree
    if last is not None and now is not None:
        refuse_own_changes(checkpoints, last, wanted, now)
    return restore(checkpoints, wanted, now, entry=entry, undone=undone)


def refuse_own_changes(checkpoints: Checkpoints, last: str, wanted: str, now: str) -> None:
    """Refuse to overwrite what the user has changed since the last tree.

    Raises:
        UserError: There is such a file.
    """
    if not (checkpoints.has(last) and checkpoints.has(wanted)):
        return  # ``restore`` reports what is missing
    own = {each.path for each in checkpoints.changes(last, now)}
    lost = sorted(own & {each.path for each in checkpoints.changes(now, wanted)})
    if lost:
        raise UserError(
            f"Changed since the last checkpoint, and not by pi: {_named(lost)}. These changes would"
            " be lost (undo brings them back). Add --force to continue."
        )


def not_covered(
    checkpoints: Checkpoints, point: Point, kept: Mapping[str, str], left_out: Iterable[str] = ()
) -> list[str]:
    """Describe for the user, in sentences, what a restore does not change and no checkpoint contains.

    Args:
        checkpoints: The work tree's checkpoints.
        point: The target.
        kept: Paths that differ and are not changed, each with the reason.
        left_out: What the checkpoint of the current files does not contain.
    """
    from pi_rewind.ignored import compare_ignored

    lines = []
    if kept:
        reasons = [f"{readable(path)} ({reason})" for path, reason in sorted(kept.items())]
        lines.append(f"Left as they are: {_listed(reasons)}.")
    outside = sorted({*point.left_out, *left_out} - kept.keys())
    if outside:
        secret = checkpoints.secret(outside)
        reasons = [f"{readable(path)} ({_why_left_out(path, secret)})" for path in outside]
        lines.append(f"Not in the checkpoint: {_listed(reasons)}.")
    lost = compare_ignored(checkpoints, point.ignored)
    for word, paths in (("Deleted", lost.deleted), ("Changed", lost.changed)):
        if paths:
            lines.append(f"{word} since, and in no checkpoint: {_named(paths)}.")
    if lost.deleted or lost.changed:
        lines.append("The setting rewind.include stores the contents of such files from now on.")
    return lines


def _why_left_out(path: str, secret: set[str]) -> str:
    if path.endswith("/"):
        return "a repository of its own"
    return "its name is that of a file with secrets" if path in secret else "too large, or not readable"


def _named(paths: Sequence[str]) -> str:
    return _listed([*map(readable, paths)])


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def counted(changes: Sequence[Change]) -> str:
    """Return the number of files in changes, in words."""
    number = sum(not each.is_folder for each in changes)
    return "1 file" if number == 1 else f"{number:,} files"


def described(changes: Sequence[Change]) -> str:
    """Return changes as lines: ``M a.py``; the first fifty of them."""
    lines = [f"{each.kind} {readable(each.path)}{'/' if each.is_folder else ''}" for each in changes[:50]]
    if len(changes) > len(lines):
        lines.append(f"and {len(changes) - len(lines)} more")
    return "\n".join(lines)


def readable(path: str) -> str:
    """Return a path on one line, with control characters and bytes that are not UTF-8 escaped."""
    from pi_core import clean_text

    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    for character, escape in (("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        text = text.replace(character, escape)
    return clean_text(text)


def _data(entry: SessionEntry) -> dict[str, Any] | None:
    """Return the data of an entry of this plugin, without fields that it does not write so.

    The session may come from another version, or from elsewhere: what is no id must not become an argument of git.
    """
    if not (isinstance(entry, CustomEntry) and entry.custom_type == ENTRY and isinstance(entry.data, dict)):
        return None
    return {name: value for name, value in entry.data.items() if _is_valid(name, value)}


def _is_valid(name: str, value: Any) -> bool:
    if name in ("tree", "undo", "ignored"):
        return isinstance(value, str) and _ID.fullmatch(value) is not None
    if name == "leftOut":
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    return True


_ID = re.compile(r"[0-9a-f]{4,64}(\+[0-9]{1,9})?(:[0-9a-f]{4,64})?")
"""An object of git. The name of a checkpoint is that of its tree, in a large folder the number of known paths, and the
object with its permissions."""

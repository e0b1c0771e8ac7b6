"""Restores a work tree to a checkpoint: writes what differs, removes only what the previous checkpoint fully contains.

A journal protects the restore: after a kill, the next start finishes it. Only files that are stored are removed.
"""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING

from attrs import frozen

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from pathlib import Path

    from pi_rewind._checkpoints import Change, Checkpoints

__all__ = ["NotRestored", "Restored", "finish", "restore"]

_LINK = "120000"
_EXECUTABLE = "100755"
_TEMPORARY = ".pi-rewind-"


class NotRestored(UserError):
    """No file was changed; the message says why."""


@frozen
class Restored:
    """What a restore did.

    Attributes:
        before: The tree of the previous files, for undo.
        tree: The tree of the current files.
        changes: The paths that were written or removed.
    """

    before: str
    tree: str
    changes: tuple[Change, ...]


def restore(checkpoints: Checkpoints, tree: str, before: str | None = None) -> Restored:
    """Restore the files to a tree.

    Args:
        checkpoints: The work tree's checkpoints.
        tree: The tree.
        before: The tree of the current files, if it was just made.

    Raises:
        NotRestored: The tree is no longer stored, or something is in the way. Nothing was changed.
        GitFailed: git failed.
    """
    before = before or checkpoints.make().tree
    if not checkpoints.has(tree):
        raise NotRestored("The checkpoint is not stored any more (checkpoints are kept for 14 days).")
    _check(checkpoints.root, tuple(checkpoints.changes(before, tree)))
    return _bring_back(checkpoints, before, tree)


def finish(checkpoints: Checkpoints) -> Restored | None:
    """Finish a restore that was killed; return None if there was none.

    Raises:
        GitFailed: git failed.
    """
    journal = _journal(checkpoints)
    try:
        noted = json.loads(journal.read_text(encoding="utf-8"))
        before, tree = str(noted["before"]), str(noted["tree"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):  # killed while it was written: nothing had been changed
        journal.unlink()
        return None
    return _bring_back(checkpoints, before, tree)


def _bring_back(checkpoints: Checkpoints, before: str, tree: str) -> Restored:
    """Write and remove what differs, protected by the journal."""
    changes = tuple(checkpoints.changes(before, tree))
    contents = checkpoints.git.contents(each.blob for each in changes if each.mode is not None)
    journal = _journal(checkpoints)
    journal.write_text(json.dumps({"before": before, "tree": tree}), encoding="utf-8")
    _apply(checkpoints, changes, contents)
    journal.unlink()
    return Restored(before, tree, changes)


def _journal(checkpoints: Checkpoints) -> Path:
    return checkpoints.git.store / "restoring.json"


def _check(root: Path, changes: tuple[Change, ...]) -> None:
    """Refuse if a link, or a folder with files that no checkpoint holds, is in the way."""
    removed = {each.path for each in changes if each.mode is None}
    for change in changes:
        if change.mode is None:
            continue
        path = root / change.path
        if path.is_dir() and not path.is_symlink() and not _will_be_empty(path, root, removed):
            raise NotRestored(
                f"{change.path!r} is a folder now, with files that no checkpoint holds. Move them away, and try again."
            )
        for parent in list(path.relative_to(root).parents)[:-1]:
            name = parent.as_posix()
            if (root / parent).is_symlink() and name not in removed:
                raise NotRestored(f"{name!r} is a link now, and {change.path!r} would be written where it leads.")
            if (root / parent).is_file() and name not in removed:
                raise NotRestored(f"{name!r} is a file now that no checkpoint holds. Move it away, and try again.")


def _will_be_empty(folder: Path, root: Path, removed: set[str]) -> bool:
    for here, _, files in os.walk(folder):
        names = (os.path.relpath(os.path.join(here, each), root) for each in files)
        if any(name.replace(os.sep, "/") not in removed for name in names):
            return False
    return True


def _apply(checkpoints: Checkpoints, changes: tuple[Change, ...], contents: dict[str, bytes]) -> None:
    root = checkpoints.root
    for change in changes:
        if change.mode is None:
            _remove(root, change, checkpoints)
    for change in changes:
        if change.mode is not None:
            _write(root / change.path, change, contents[change.blob])


def _remove(root: Path, change: Change, checkpoints: Checkpoints) -> None:
    path = root / change.path
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return  # it is gone already
    if stat.S_ISDIR(mode) or not _is_stored(path, mode, change, checkpoints):
        return  # somebody has changed it since: it stays
    path.unlink()
    for parent in path.parents:
        if parent == root:
            break
        try:
            parent.rmdir()
        except OSError:  # not empty
            break


def _is_stored(path: Path, mode: int, change: Change, checkpoints: Checkpoints) -> bool:
    """Whether the store contains the current content of a file."""
    if stat.S_ISLNK(mode):
        content = os.fsencode(os.readlink(path))
    elif stat.S_ISREG(mode):
        content = path.read_bytes()
    else:
        return False
    name = checkpoints.git("hash-object", "--stdin", data=content).decode().strip()
    return name == change.old_blob


def _write(path: Path, change: Change, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{_TEMPORARY}{change.blob[:16]}")
    temporary.unlink(missing_ok=True)
    if change.mode == _LINK:
        os.symlink(os.fsdecode(content), temporary)
    else:
        temporary.write_bytes(content)
        temporary.chmod(_mode(path, executable=change.mode == _EXECUTABLE))
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    temporary.replace(path)


def _mode(path: Path, *, executable: bool) -> int:
    """Return the permissions for a file: its current ones, executable or not as in the checkpoint."""
    try:
        found = os.lstat(path)
    except OSError:
        found = None
    if found is not None and stat.S_ISREG(found.st_mode):
        mode = stat.S_IMODE(found.st_mode)
    else:
        umask = os.umask(0)
        os.umask(umask)
        mode = 0o666 & ~umask
    readable = (mode & 0o444) >> 2
    return mode | readable if executable else mode & ~0o111

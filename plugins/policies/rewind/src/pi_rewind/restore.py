"""Restores a work tree to a checkpoint: writes what differs, removes only what the previous checkpoint fully contains.

Each path is examined just before it is changed. If it has neither the old nor the new content, it was changed by
something else and stays. So a restore that was killed can be continued from any point, and can be reversed.
"""

from __future__ import annotations

import hashlib
import os
import stat
from typing import TYPE_CHECKING

from attrs import field, frozen

from pi_hookspecs import UserError
from pi_rewind.about import FOLDER, LINK, PROGRAM, parents_of
from pi_rewind.git import GitFailed
from pi_rewind.journal import Journal, Record
from pi_rewind.scan import Boundaries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from pi_rewind.checkpoints import Change, Checkpoints

__all__ = ["NotRestored", "Plan", "Restored", "finish", "plan", "restore", "reverse"]

_TEMPORARY = ".pi-rewind-"
_BATCH = 64_000_000
"""Bytes of contents that are in memory at a time."""
_LONG_NAME = 64
_OWN_REPOSITORY = "in a repository of its own"


class NotRestored(UserError):
    """No file was changed; the message says why."""


@frozen
class Plan:
    """What a restore will do.

    Attributes:
        before: The checkpoint of the current files.
        tree: The checkpoint to restore.
        changes: The paths to write or remove.
        kept: Paths that differ and are not changed, each with the reason.
        folders: Folders to remove if nothing is left in them, inner ones first.
    """

    before: str
    tree: str
    changes: tuple[Change, ...]
    kept: dict[str, str]
    folders: tuple[str, ...]


@frozen
class Restored:
    """What a restore did.

    Attributes:
        before: The tree of the previous files, for undo.
        tree: The tree of the current files.
        changes: The paths that were written or removed.
        kept: Paths that differ and were not changed, each with the reason.
        session: The session to which the restore belongs.
    """

    before: str
    tree: str
    changes: tuple[Change, ...]
    kept: dict[str, str] = field(factory=dict)
    session: str = ""


def plan(checkpoints: Checkpoints, before: str, tree: str, undone: str = "") -> Plan:
    """Return what restoring a tree will do.

    Args:
        checkpoints: The work tree's checkpoints.
        before: The checkpoint of the current files.
        tree: The checkpoint to restore.
        undone: The checkpoint that was restored by what this undoes: what that wrote is removed even if it is ignored.

    Raises:
        GitFailed: One of the trees is no longer stored.
    """
    found = checkpoints.changes(before, tree)
    boundaries, kept = Boundaries(checkpoints.root), {}
    written = {each.path: each.blob for each in checkpoints.changes(tree, undone)} if undone else {}
    files = (each for each in found if not each.is_folder)
    removed = [each.path for each in files if each.mode is None and written.get(each.path) != each.old_blob]
    after = checkpoints.folders(tree)
    gone = checkpoints.folders(before) - after
    about = checkpoints.about(before)
    empty = gone & about.empty if about is not None else set()
    if checkpoints.about(tree) is None:  # version 1.0 did not record whether they existed
        gone -= empty
    empty -= checkpoints.folders(undone) if undone else set()
    asked = [path for path in (*removed, *empty) if not boundaries.behind_link(path)]
    ignored = checkpoints.ignored(asked, empty, tree)
    for change in found:
        if boundaries.repository(change.path) is not None or boundaries.is_repository(change.path):
            kept[change.path] = _OWN_REPOSITORY
        elif change.path in ignored and change.mode is None:
            kept[change.path] = "ignored by git"
    folders = sorted(gone - ignored, key=lambda folder: (-folder.count("/"), folder))
    return Plan(before, tree, tuple(each for each in found if each.path not in kept), kept, tuple(folders))


def restore(
    checkpoints: Checkpoints, tree: str, before: str | None = None, *, entry: str = "", undone: str = ""
) -> Restored:
    """Restore the files to a tree.

    Args:
        checkpoints: The work tree's checkpoints.
        tree: The tree.
        before: The tree of the current files, if it was just made.
        entry: The prompt to which the user goes back.
        undone: The checkpoint that was restored by what this undoes.

    Raises:
        NotRestored: The tree is no longer stored, or something is in the way. Nothing was changed.
        GitFailed: git failed.
    """
    if not checkpoints.has(tree):
        raise NotRestored("The checkpoint is no longer stored (checkpoints are kept for 14 days).")
    if finish(checkpoints) is not None:
        before = None
    before = before or checkpoints.make(covering=tree).tree
    undone = undone if undone and checkpoints.has(undone) else ""
    planned = plan(checkpoints, before, tree, undone)
    _check(checkpoints.root, planned)
    journal = Journal(checkpoints.git.store)
    with journal.lock(wait=True):
        sizes = _sizes(checkpoints, planned.changes)
        record = Record(before, tree, checkpoints.session, entry, undone)
        journal.begin(record)
        try:
            kept = _apply(checkpoints, planned, sizes)
        except (OSError, GitFailed) as error:
            _go_back(checkpoints, record, journal, error)
        journal.end(record)
    return Restored(before, tree, planned.changes, {**planned.kept, **kept}, checkpoints.session)


def finish(checkpoints: Checkpoints) -> Restored | None:
    """Finish a restore that was killed; return None if there was none.

    Raises:
        GitFailed: git failed.
        NotRestored: A file cannot be written.
    """
    return _complete(checkpoints, back=False)


def reverse(checkpoints: Checkpoints) -> Restored | None:
    """Reverse a restore that was killed; return None if there was none.

    Raises:
        GitFailed: git failed.
        NotRestored: A file cannot be written.
    """
    return _complete(checkpoints, back=True)


def _complete(checkpoints: Checkpoints, *, back: bool) -> Restored | None:
    if not checkpoints.git.store.is_dir():
        return None
    journal = Journal(checkpoints.git.store)
    with journal.lock(wait=False) as held:
        record = journal.pending() if held else None
        if record is None:
            return None
        old, new = (record.tree, record.before) if back else (record.before, record.tree)
        if not (checkpoints.has(old) and checkpoints.has(new)):
            journal.abandon()
            raise NotRestored("A rewind was interrupted, and cannot be finished: its checkpoint is no longer stored.")
        _remove_temporary(checkpoints, record)
        planned = plan(checkpoints, old, new, old if back else record.undone)
        try:
            kept = _apply(checkpoints, planned, _sizes(checkpoints, planned.changes))
        except OSError as error:
            raise NotRestored(f"A rewind was interrupted, and cannot be finished: {error}.") from error
        if back:
            journal.abandon()
        else:
            journal.end(record)
    return Restored(record.before, new, planned.changes, {**planned.kept, **kept}, record.session)


def _go_back(checkpoints: Checkpoints, record: Record, journal: Journal, error: Exception) -> None:
    """Reverse a restore that failed, and say so."""
    try:
        planned = plan(checkpoints, record.tree, record.before, record.tree)
        _apply(checkpoints, planned, _sizes(checkpoints, planned.changes))
    except (OSError, GitFailed):
        message = f"The files are restored only in part: {error}. The next start of pi finishes it."
        raise UserError(message) from error
    journal.abandon()
    raise NotRestored(f"Nothing was restored: {error}.") from error


def _check(root: Path, planned: Plan) -> None:
    """Refuse if a link, or a folder with files that no checkpoint holds, is in the way."""
    removed = {each.path for each in planned.changes if each.mode is None}
    boundaries = Boundaries(root)
    for change in planned.changes:
        if change.mode is None:
            continue
        path = root / change.path
        is_folder = path.is_dir() and not path.is_symlink() and not boundaries.behind_link(change.path)
        if change.mode != FOLDER and is_folder and not _will_be_empty(path, root, removed):
            raise NotRestored(
                f"{change.path!r} is a folder now, with files that no checkpoint contains. Move them away, and try "
                f"again."
            )
        for parent in list(path.relative_to(root).parents)[:-1]:
            name = parent.as_posix()
            if (root / parent).is_symlink() and name not in removed:
                raise NotRestored(f"{name!r} is a link now, and {change.path!r} would be written where it leads.")
            if (root / parent).is_file() and name not in removed:
                raise NotRestored(f"{name!r} is a file now that no checkpoint contains. Move it away, and try again.")


def _will_be_empty(folder: Path, root: Path, removed: set[str]) -> bool:
    for here, folders, files in os.walk(folder):
        links = (each for each in folders if os.path.islink(os.path.join(here, each)))
        names = (os.path.relpath(os.path.join(here, each), root) for each in (*files, *links))
        if any(name.replace(os.sep, "/") not in removed for name in names):
            return False
    return True


def _sizes(checkpoints: Checkpoints, changes: Iterable[Change]) -> dict[str, int]:
    """Return the sizes of all contents that are needed.

    Raises:
        NotRestored: One is gone.
    """
    wanted = {each.blob for each in changes if each.mode is not None and each.blob}
    sizes = checkpoints.git.sizes(wanted) if wanted else {}
    if len(sizes) < len(wanted):
        raise NotRestored(
            f"{len(wanted) - len(sizes):,} files of the checkpoint are missing: the repository has been cleaned up "
            f"since."
        )
    return sizes


def _apply(checkpoints: Checkpoints, planned: Plan, sizes: dict[str, int]) -> dict[str, str]:
    """Change the files; return the paths that were kept, each with the reason."""
    root = checkpoints.root
    kept: dict[str, str] = {}
    for change in planned.changes:
        if change.mode is None and not change.is_folder:
            _note(kept, change, _remove(root, change))
    for folder in planned.folders:
        _remove_folder(root, folder)
    writes = [each for each in planned.changes if each.mode is not None]
    for change in sorted((each for each in writes if each.mode == FOLDER), key=lambda each: each.path):
        _note(kept, change, _make_folder(root, change.path))
    for batch in _batches([each for each in writes if each.mode != FOLDER], sizes):
        contents = checkpoints.git.contents(each.blob for each in batch)
        for change in batch:
            _note(kept, change, _write(root, change, contents[change.blob]))
    _set_permissions(checkpoints, planned)
    return kept


def _note(kept: dict[str, str], change: Change, reason: str | None) -> None:
    if reason is not None:
        kept[change.path] = reason


def _batches(changes: list[Change], sizes: dict[str, int]) -> Iterator[list[Change]]:
    """Yield changes in groups whose contents fit in memory."""
    batch: list[Change] = []
    total = 0
    for change in changes:
        if batch and total + sizes[change.blob] > _BATCH:
            yield batch
            batch, total = [], 0
        batch.append(change)
        total += sizes[change.blob]
    if batch:
        yield batch


def _remove(root: Path, change: Change) -> str | None:
    if (blocked := _blocked(root, change.path)) is not None:
        return blocked
    path = root / change.path
    found = _content(path, change.old_blob)
    if found is None:
        return None  # it is gone already
    if found != _expected(change.old_mode, change.old_blob):
        return "changed since"
    _change_in(path.parent, path.unlink)
    return None


def _remove_folder(root: Path, folder: str) -> None:
    path = root / folder
    if _blocked(root, folder) is None and path.is_dir() and not path.is_symlink():
        try:
            _change_in(path.parent, path.rmdir)
        except OSError:  # not empty: what is in it is in no checkpoint
            return


def _make_folder(root: Path, folder: str) -> str | None:
    """Make a folder and those above it; return why that is not possible, None if it is done."""
    here = root
    for part in folder.split("/") if folder else ():
        parent, here = here, here / part
        if here.is_symlink() or (os.path.lexists(here) and not here.is_dir()):
            return f"{here.relative_to(root).as_posix()!r} is in the way"
        if not here.exists():
            _change_in(parent, here.mkdir)
    return None


def _write(root: Path, change: Change, content: bytes) -> str | None:
    """Write a file or a link; return why it was kept, None if it is as it should be."""
    path = root / change.path
    temporary = _temporary(path, change)
    blocked = _make_folder(root, change.path.rpartition("/")[0])
    if blocked is not None:
        return blocked
    found = _content(path, change.blob)
    if found == _expected(change.mode, change.blob):
        if change.mode != LINK:
            path.chmod(_permissions(path, change))
        return None
    if found == "folder":
        try:
            _change_in(path.parent, path.rmdir)
        except OSError:
            return "a folder with other files is in its place"
    elif found is not None and (change.old_mode is None or found != _expected(change.old_mode, change.old_blob)):
        return "changed since" if change.old_mode is not None else "not in any checkpoint"
    _change_in(path.parent, lambda: _replace(path, temporary, change, content))
    return None


def _temporary(path: Path, change: Change) -> Path:
    """Return where a file is written before it replaces another one."""
    return path.with_name(f"{_TEMPORARY}{change.blob[:16]}")


def _remove_temporary(checkpoints: Checkpoints, record: Record) -> None:
    """Remove what a killed restore had not moved to its place."""
    for change in checkpoints.changes(record.before, record.tree):
        temporary = _temporary(checkpoints.root / change.path, change)
        if change.blob and _blocked(checkpoints.root, change.path) is None and os.path.lexists(temporary):
            _change_in(temporary.parent, lambda path=temporary: path.unlink(missing_ok=True))  # type: ignore[misc]


def _replace(path: Path, temporary: Path, change: Change, content: bytes) -> None:
    try:
        if change.mode == LINK:
            os.symlink(os.fsdecode(content), temporary)
        else:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            temporary.chmod(_permissions(path, change))
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def _content(path: Path, like: str) -> str | None:
    """Return kind and hash of what is at a path: ``file HASH``, ``link HASH``, ``folder``, ``other``; None for nothing.

    Args:
        path: The path.
        like: A hash of the kind to make.
    """
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISLNK(mode):
        return f"link {_hash(os.fsencode(os.readlink(path)), like)}"
    if not stat.S_ISREG(mode):
        return "other"
    try:
        return f"file {_hash(path.read_bytes(), like)}"
    except PermissionError:
        return "other"


def _hash(content: bytes, like: str) -> str:
    """Return git's name of a content."""
    data = b"blob %d\0%b" % (len(content), content)
    return (hashlib.sha256(data) if len(like) == _LONG_NAME else hashlib.sha1(data, usedforsecurity=False)).hexdigest()


def _expected(mode: str | None, blob: str) -> str | None:
    if mode is None or mode == FOLDER:
        return None
    return f"link {blob}" if mode == LINK else f"file {blob}"


def _blocked(root: Path, path: str) -> str | None:
    """Return why a path cannot be reached without leaving the work tree; None if it can, or does not exist."""
    for parent in sorted(parents_of([path])):
        if (root / parent).is_symlink():
            return f"{parent!r} is in the way"
    return None


def _change_in(folder: Path, work: Callable[[], object]) -> None:
    """Change something in a folder; one that is read-only is made writable. Its permissions are set at the end."""
    try:
        work()
    except PermissionError:
        mode = stat.S_IMODE(folder.stat().st_mode)
        if mode & stat.S_IRWXU == stat.S_IRWXU:
            raise
        folder.chmod(mode | stat.S_IRWXU)
        work()


def _permissions(path: Path, change: Change) -> int:
    """Return the permissions for a file: the recorded ones; else its current ones, executable as in the checkpoint."""
    if change.permissions is not None:
        return change.permissions
    executable = change.mode == PROGRAM
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


def _set_permissions(checkpoints: Checkpoints, planned: Plan) -> None:
    """Set the permissions of the folders that were made or opened, inner ones first."""
    about = checkpoints.about(planned.tree)
    if about is None:
        return
    folders = parents_of(each.path for each in planned.changes)
    folders.update(each.path for each in planned.changes if each.mode == FOLDER)
    for folder in sorted(folders & checkpoints.folders(planned.tree), reverse=True):
        path = checkpoints.root / folder
        wanted = about.permissions(folder, FOLDER)
        if wanted is None or path.is_symlink() or not path.is_dir() or _blocked(checkpoints.root, folder) is not None:
            continue
        if stat.S_IMODE(path.stat().st_mode) != wanted:
            path.chmod(wanted)

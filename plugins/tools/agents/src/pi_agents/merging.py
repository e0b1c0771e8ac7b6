"""Merges the work of a worktree with the user's files, and writes the result: what it says, all of it, or nothing."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import field, frozen

from pi_agents.bringing import bring, hindrance, is_there
from pi_agents.kept import look_at, prefixed
from pi_git_kit import (
    apply_patch,
    describe_extras,
    diff_stat,
    is_sparse,
    merge_trees,
    patch_between,
    tree_changes,
    tree_of_files,
    written_by_git,
)
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pi_agents.kept import Kept
    from pi_git_kit import Change, Extra, Git, Part, Standing

__all__ = ["Conflict", "Merge", "apply", "merge"]

_PLAIN = ("100644", "100755")
_NONE = "000000"
_LINK = "160000"
_ORDER = ("repository", "folder", "file", "bytes", "mode")


class Conflict(UserError):
    """The same lines or files were changed in a worktree and in the user's files; nothing was changed.

    Attributes:
        files: The names of the files, relative to the top.
    """

    def __init__(self, kept: Kept, files: list[str]) -> None:
        super().__init__(
            f"The work of {kept.id} conflicts with your files, and nothing was changed: {', '.join(files)}."
            f" Look at it in {kept.path}, or merge the branch {kept.branch} yourself"
        )
        self.files = files


@frozen
class Piece:
    """The changes of one part.

    Attributes:
        part: The worktree, or a nested repository in it.
        patch: The changes as a patch of the user's files.
        changes: The paths that the patch changes.
        extras: What is brought without git.
    """

    part: Part
    patch: bytes
    changes: list[Change]
    extras: list[Extra]


@frozen
class Merge:
    """Changes of a worktree that fit the user's files.

    Attributes:
        stat: The changes in the format of ``git diff --stat``; empty if the user's files contain them already.
        files: The names of the changed files, relative to the top.
        patch: The changes as a patch of the user's files.
        pieces: The changes of each part.
        left: Lines about what is not brought, with the reason.
    """

    stat: str
    files: list[str]
    patch: bytes
    pieces: list[Piece] = field(factory=list)
    left: list[str] = field(factory=list)


def merge(git: Git, kept: Kept, caches: Collection[str]) -> Merge:
    """Merge the changes in a worktree with the user's files, without changing any file.

    Raises:
        Conflict: The same was changed in the worktree and in the user's files.
        UserError: The worktree's folder no longer exists, or git cannot be run.
    """
    look = look_at(git, kept, caches)
    pieces, conflicts, stats, left = [], [], [], [*look.unread]
    for part, state in look.parts:
        mine = tree_of_files(part.mine, flagged=True)
        tree, names = merge_trees(part.mine, part.base, mine, state.plain)
        changes = tree_changes(part.mine, mine, tree) if tree is not None else []
        conflicts += [_named(part, name) for name in names or _in_the_way(part.mine.top, changes)]
        if tree is None:
            continue
        extras, reasons = _sorted_out(part, state, [each.path for each in changes])
        left += reasons
        stats.append(prefixed(part, diff_stat(part.mine, mine, tree)))
        stats += describe_extras((_named(part, extra.path), extra) for extra in extras)
        pieces.append(Piece(part, patch_between(part.mine, mine, tree), changes, extras))
    if conflicts:
        raise Conflict(kept, sorted(conflicts))
    names = [_named(piece.part, path) for piece in pieces for path in _paths(piece)]
    patch = b"".join(piece.patch for piece in pieces)
    return Merge("\n".join(filter(None, stats)), sorted(dict.fromkeys(names)), patch, pieces, left)


def apply(merged: Merge) -> list[str]:
    """Write merged changes to the user's files; return lines about what could not be brought, with the reason.

    Raises:
        UserError: A file was changed in the meantime; nothing is written.
    """
    new: list[Path] = []
    try:
        for piece in merged.pieces:
            new += _fetch_left_out(piece)
            apply_patch(piece.part.mine, piece.patch, check=True)
    except BaseException:
        for path in new:
            path.unlink(missing_ok=True)
        raise
    left = list(merged.left)
    for piece in merged.pieces:
        modes = _modes(piece)
        apply_patch(piece.part.mine, piece.patch)
        for path, mode in modes.items():
            with suppress(OSError):
                path.chmod(mode)
        left += _bring(piece)
    return left


def _named(part: Part, path: str) -> str:
    return f"{part.path}/{path}" if part.path else path


def _paths(piece: Piece) -> list[str]:
    return [*(each.path for each in piece.changes), *(each.path for each in piece.extras)]


def _sorted_out(part: Part, state: Standing, going: Sequence[str]) -> tuple[list[Extra], list[str]]:
    """Return what is to be brought without git, and lines about what cannot be."""
    extras, left = [], []
    changed = set(going)
    for extra in state.extras:
        is_touched = extra.path in changed or any(path.startswith(f"{extra.path}/") for path in going)
        if not is_touched and is_there(extra, part):
            continue
        reason = hindrance(extra, part, changed)
        if reason:
            left.append(f" {_named(part, extra.path)} | {reason}")
        else:
            extras.append(extra)
    return extras, left


def _in_the_way(top: Path, changes: Sequence[Change]) -> list[str]:
    """Return the paths of a patch at which the user has something that git does not see, or a repository."""
    gone = {each.path for each in changes if each.new == _NONE}
    changed = {each.path for each in changes}
    return [
        each.path
        for each in changes
        if _LINK in (each.old, each.new)
        or (each.new != _NONE and (_is_behind(each.path, top, changed) or _is_taken(each, top, gone)))
    ]


def _is_behind(name: str, top: Path, changed: Collection[str]) -> bool:
    """Whether a link or file of the user's, which the patch does not change, is in place of a folder above a path."""
    above = [parent for parent in (top / name).parents if parent.is_relative_to(top) and parent != top]
    kept = [each for each in above if each.relative_to(top).as_posix() not in changed]
    return any(os.path.lexists(each) and not _is_folder(each) for each in kept)


def _is_taken(change: Change, top: Path, gone: Collection[str]) -> bool:
    """Whether something that git does not see is at the path of a file that the patch writes."""
    path = top / change.path
    if _is_folder(path):
        return not _is_emptied(path, top, gone)
    return change.old == _NONE and os.path.lexists(path)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _is_emptied(folder: Path, top: Path, gone: Collection[str]) -> bool:
    """Whether a folder, which becomes a file, has nothing but files that the patch removes."""
    for here, folders, names in os.walk(folder):
        links = [each for each in folders if (Path(here) / each).is_symlink()]
        paths = (Path(here, each).relative_to(top).as_posix() for each in (*names, *links))
        if not (names or folders) or any(path not in gone for path in paths):
            return False
    return True


def _fetch_left_out(piece: Piece) -> list[Path]:
    """Write the files that a sparse checkout of the user leaves out, if the patch changes them; return them."""
    git = piece.part.mine
    absent = [each for each in piece.changes if each.old in _PLAIN and not os.path.lexists(git.top / each.path)]
    if not absent or not is_sparse(git):
        return []
    written = []
    for change in absent:
        path = git.top / change.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(written_by_git(git, change.path, change.blob))
        path.chmod(path.stat().st_mode | (0o111 if change.old == "100755" else 0))
        written.append(path)
    return written


def _modes(piece: Piece) -> dict[Path, int]:
    """Return the permissions of the files that the patch writes anew, if git does not change them."""
    paths = [piece.part.mine.top / each.path for each in piece.changes if each.old == each.new and each.old in _PLAIN]
    return {path: stat.S_IMODE(path.lstat().st_mode) for path in paths if path.is_file()}


def _bring(piece: Piece) -> list[str]:
    """Bring what no tree holds; return lines about what could not be brought."""
    left = []
    for extra in sorted(piece.extras, key=_by_kind):
        reason = hindrance(extra, piece.part)
        if not reason:
            try:
                bring(extra, piece.part)
            except OSError as error:
                reason = error.strerror or str(error)
        if reason:
            left.append(f" {_named(piece.part, extra.path)} | {reason}")
    return left


def _by_kind(extra: Extra) -> tuple[int, int, str]:
    """Permissions come last, those of folders after those of what is in them."""
    depth = -extra.path.count("/") if extra.kind == "mode" else 0
    return _ORDER.index(extra.kind), depth, extra.path

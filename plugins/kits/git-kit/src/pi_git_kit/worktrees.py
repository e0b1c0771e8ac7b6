"""Worktrees of a repository: makes, lists, finds and removes them, one at a time in each repository.

``git worktree add`` reads the records of all worktrees, and fails on one that another git is just writing. Worktrees
are therefore made and removed under a lock that all threads and processes of pi share.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from pi_git_kit.objects import resolve
from pi_git_kit.snapshots import copy_index
from pi_git_kit.standing import FIRST_INDEX, PI_FOLDERS
from pi_git_kit.starting import GitFailed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_git_kit.git import Git

__all__ = [
    "Worktree",
    "add_worktree",
    "folder_in",
    "list_worktrees",
    "prune_worktrees",
    "remove_worktree",
    "worktree_at",
    "worktree_lock",
]

_PAUSES = (0.02, 0.1, 0.5)
"""Seconds to wait before a worktree is tried again, when a git that is not pi's was writing the records of another."""


@frozen
class Worktree:
    """A worktree that a repository knows.

    Attributes:
        path: Its top.
        commit: The commit that is checked out.
        branch: Its branch, without ``refs/heads/``; None if HEAD is detached.
    """

    path: Path
    commit: str
    branch: str | None = None


@contextmanager
def worktree_lock(git: Git) -> Iterator[None]:
    """Wait until no other thread or process of pi changes the worktrees of a repository, and keep them from it.

    The lock is not reentrant: the functions of this module that change worktrees take it themselves.

    Raises:
        GitFailed: The lock file cannot be written.
    """
    from filelock import FileLock

    file = git.common / "pi-worktrees.lock"
    lock = FileLock(file, mode=0o600)
    try:
        lock.acquire()
    except OSError as error:
        raise GitFailed(f"{str(file)!r} cannot be written: {error.strerror or error}") from error
    try:
        yield
    finally:
        lock.release()


def add_worktree(git: Git, path: Path, commit: str, *, branch: str | None = None) -> Git:
    """Make a worktree and return git for it.

    Args:
        git: The repository.
        path: Where the worktree is made; nothing may exist there.
        commit: The commit or existing branch to check out.
        branch: The name of a new branch; None for an existing one or a detached HEAD.

    Raises:
        GitFailed: git cannot make it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if branch is not None:
        kind = ["-b", branch]
    elif git.attempt("rev-parse", "--verify", "--quiet", f"refs/heads/{commit}").code == 0:
        kind = []
    else:
        kind = ["--detach"]
    with worktree_lock(git):
        known = branch is not None and resolve(git, f"refs/heads/{branch}") is not None
        for pause in _PAUSES:
            output = git.attempt("worktree", "add", "--quiet", *kind, os.fspath(path), commit)
            if not output.code or "commondir" not in output.reason or path.exists():
                break
            if branch is not None and not known:  # what the attempt has made, or nothing
                git.attempt("branch", "-D", branch)
            time.sleep(pause)
        if output.code:
            raise GitFailed(f"git worktree failed in {str(git.top)!r}: {output.reason}", output.code)
        inside = worktree_at(git, path)
    copy_index(inside.git_dir / "index", inside.git_dir / FIRST_INDEX)  # what files_that_stand compares with
    return inside


def folder_in(inside: Git, below: Path) -> Path:
    """Return a folder in a worktree; it is made if git has no files in it, and then known to be pi's.

    Raises:
        OSError: It cannot be made.
    """
    folder = inside.top / below
    new = [each for each in (folder, *folder.parents) if each.is_relative_to(inside.top) and not each.exists()]
    if new:
        folder.mkdir(parents=True)
        with (inside.git_dir / PI_FOLDERS).open("ab") as file:
            file.writelines(os.fsencode(each.relative_to(inside.top)) + b"\0" for each in new)
    return folder


def worktree_at(git: Git, path: Path) -> Git:
    """Return git for a worktree, found from the repository's side, because a file ``.git`` can name any repository.

    Raises:
        GitFailed: The folder is not a worktree of the repository.
    """
    for entry in sorted((git.common / "worktrees").glob("*/gitdir")):
        try:
            found = entry.read_text(encoding="utf-8", errors="surrogateescape").strip()
        except OSError:  # another git removes that worktree
            continue
        if Path(found) == path / ".git":
            return git.with_(top=path, git_dir=entry.parent, below=Path())
    raise GitFailed(f"{str(path)!r} is not a worktree of {str(git.common)!r}")


def list_worktrees(git: Git) -> list[Worktree]:
    """Return the worktrees of a repository, its main one first.

    Raises:
        GitFailed: git cannot be run.
    """
    found = []
    for block in git("worktree", "list", "--porcelain", "-z").split("\0\0"):
        row = dict(line.partition(" ")[::2] for line in block.split("\0") if line)
        if "worktree" in row:
            branch = row["branch"].removeprefix("refs/heads/") if "branch" in row else None
            found.append(Worktree(Path(row["worktree"]), row.get("HEAD", ""), branch))
    return found


def prune_worktrees(git: Git) -> None:
    """Forget the worktrees whose folders no longer exist.

    Raises:
        GitFailed: git cannot be run.
    """
    with worktree_lock(git):
        git("worktree", "prune")


def remove_worktree(git: Git, path: Path) -> None:
    """Remove a worktree with everything that was changed in it.

    Raises:
        GitFailed: git cannot remove it.
    """
    with worktree_lock(git):
        output = git.attempt("worktree", "remove", "--force", "--force", os.fspath(path))
    if output.code and path.exists():
        raise GitFailed(f"git cannot remove {str(path)!r}: {output.reason}", output.code)

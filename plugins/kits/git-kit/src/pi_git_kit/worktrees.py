"""Worktrees of a repository: makes, lists, finds and removes them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from pi_git_kit.starting import GitFailed

if TYPE_CHECKING:
    from pi_git_kit.git import Git

__all__ = ["Worktree", "add_worktree", "list_worktrees", "prune_worktrees", "remove_worktree", "worktree_at"]


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
        git("worktree", "add", "--quiet", "-b", branch, os.fspath(path), commit)
    elif git.attempt("rev-parse", "--verify", "--quiet", f"refs/heads/{commit}").code == 0:
        git("worktree", "add", "--quiet", os.fspath(path), commit)
    else:
        git("worktree", "add", "--quiet", "--detach", os.fspath(path), commit)
    return worktree_at(git, path)


def worktree_at(git: Git, path: Path) -> Git:
    """Return git for a worktree, found from the repository's side, because a file ``.git`` can name any repository.

    Raises:
        GitFailed: The folder is not a worktree of the repository.
    """
    for entry in sorted((git.common / "worktrees").glob("*/gitdir")):
        if Path(entry.read_text(encoding="utf-8", errors="surrogateescape").strip()) == path / ".git":
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
    git("worktree", "prune")


def remove_worktree(git: Git, path: Path) -> None:
    """Remove a worktree with everything that was changed in it.

    Raises:
        GitFailed: git cannot remove it.
    """
    output = git.attempt("worktree", "remove", "--force", "--force", os.fspath(path))
    if output.code and path.exists():
        raise GitFailed(f"git cannot remove {str(path)!r}: {output.reason}", output.code)

"""Worktrees of agents: a branch ``pi/ID`` that begins with the user's uncommitted changes; unused ones are removed.

A worktree is removed only if nothing would be lost: files are compared as files, whatever git sees of them, and so are
the index and the commits. The user's index, stash and HEAD are never touched. ``refs/pi/base/ID`` is where a worktree
began.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from attrs import define, field

from pi_agents.kept import Kept, look_at, repository
from pi_agents.settings import caches
from pi_core import worktree_folder
from pi_git_kit import (
    GitFailed,
    add_parts,
    add_worktree,
    commit_of_files,
    folder_in,
    forget_parts,
    parts_of,
    prune_worktrees,
    read_tree,
    remove_worktree,
    resolve,
    worktree_lock,
)
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection
    from pathlib import Path

    from pi_agents.kept import Look
    from pi_agents.member import Member
    from pi_git_kit import Git, Prepare
    from pi_hookspecs import PiContext

__all__ = ["Worktree", "begin", "keep_or_remove", "worktree"]


@define(eq=False)
class Worktree:
    """The worktree of an agent.

    Attributes:
        path: Its top directory.
        cwd: The directory in it in which the agent works.
        branch: The branch, ``pi/ID``.
        parts: The folders of nested repositories whose files it has, without their git folders.
        missing: Why it does not have the files of others, by folder.
        stat: What was changed, in the format of ``git diff --stat``; empty while the agent is running, and without
            changes.
    """

    path: Path
    cwd: Path
    branch: str
    parts: list[str] = field(factory=list)
    missing: dict[str, str] = field(factory=dict)
    stat: str = ""


@asynccontextmanager
async def worktree(prepare: Prepare, member: Member, ctx: PiContext) -> AsyncIterator[Worktree]:
    """Create a worktree for an agent; afterwards commit the changes in it, or remove it if there are none.

    Raises:
        UserError: The folder is not in a git repository, or git cannot create the worktree.
    """
    git, inside, kept, place = await asyncio.to_thread(begin, prepare, member, ctx)
    try:
        yield place
    finally:
        message = f"{member.name}: {member.description}"
        try:
            place.stat = await asyncio.to_thread(keep_or_remove, git, inside, kept, message, caches(ctx.settings))
        except (OSError, UserError) as error:  # the agent's answer must not be lost for it
            place.stat = f" {error}"


def begin(prepare: Prepare, member: Member, ctx: PiContext) -> tuple[Git, Git, Kept, Worktree]:
    """Create a worktree; return git for the user's files and for the worktree. Nothing of it is left if that fails.

    Raises:
        UserError: The folder is not in a git repository, or git cannot create the worktree.
    """
    git = repository(ctx.cwd, prepare)
    path = worktree_folder(ctx.settings.agent_dir, git.top) / member.id
    kept = Kept(member.id, path, commit_of_files(git))
    try:
        inside = add_worktree(git, path, kept.base, branch=kept.branch)
        git("update-ref", kept.ref, kept.base)
        missing = add_parts(git, inside, kept.base, kept.ref)
        cwd = folder_in(inside, git.below)  # git knows no folder without files
    except (OSError, UserError) as error:
        _undo_begin(git, kept)
        raise UserError(
            f"The worktree {path} cannot be created: {error}. In a sandbox git needs {path.parent.parent} in "
            f"sandbox.write"
        ) from error
    parts = [each.path for each in parts_of(git, inside, kept.base) if each.path and each.path not in missing]
    return git, inside, kept, Worktree(path, cwd, kept.branch, parts, missing)


def _undo_begin(git: Git, kept: Kept) -> None:
    """Remove what was made of a worktree; a folder that was there before stays."""
    with suppress(UserError):
        if (kept.path / ".git").is_file():
            remove_worktree(git, kept.path)
        prune_worktrees(git)
    with suppress(UserError), worktree_lock(git):
        _forget(git, kept)


def keep_or_remove(git: Git, inside: Git, kept: Kept, message: str, names: Collection[str]) -> str:
    """Commit what was changed in a worktree and return its description; remove the worktree if nothing was.

    Raises:
        UserError: The worktree no longer exists, or git cannot be run.
    """
    look = look_at(git, kept, names)
    if not look.stat:
        parts = [part for part, _ in look.parts]
        remove_worktree(git, kept.path)
        with worktree_lock(git):
            forget_parts(parts, kept.ref)
            _forget(git, kept)
        return ""
    git.attempt("update-ref", kept.ref, kept.base)  # the agent may have removed it
    with suppress(GitFailed):  # its files are kept, also if their record in the repository is lost
        _commit(inside, look, kept.branch, message)
    return look.stat


def _commit(inside: Git, look: Look, branch: str, message: str) -> None:
    """Commit a worktree's files to its branch, whichever branch the agent has checked out there."""
    head, tree = resolve(inside, "HEAD"), look.tree
    commit = head
    if head is None or tree != resolve(inside, "HEAD^{tree}"):
        parents = ["-p", head] if head is not None else []
        commit = inside("commit-tree", tree, *parents, "-m", message)
    inside("update-ref", f"refs/heads/{branch}", str(commit))
    if "(the index)" not in look.stat:
        read_tree(inside, tree)


def _forget(git: Git, kept: Kept) -> None:
    """Remove git's records of a worktree whose folder no longer exists."""
    git.attempt("branch", "-D", kept.branch)
    git.attempt("update-ref", "-d", kept.ref)

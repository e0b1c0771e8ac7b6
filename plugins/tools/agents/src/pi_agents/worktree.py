"""Worktrees of agents: a branch ``pi/ID`` that begins with the user's uncommitted changes; clean ones are removed.

The user's index, stash and HEAD are never touched. ``refs/pi/base/ID`` is where a worktree began.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from attrs import define, frozen

from pi_core import worktree_folder
from pi_git_kit import (
    ForeignOwner,
    GitFailed,
    add_worktree,
    apply_patch,
    diff_stat,
    merge_trees,
    patch_between,
    prune_worktrees,
    remove_worktree,
    repository_of,
    resolve,
    tree_of_files,
    worktree_at,
)
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from pi_agents.member import Member
    from pi_git_kit import Git, Prepare
    from pi_hookspecs import PiContext

__all__ = [
    "Conflict",
    "Kept",
    "Merge",
    "Worktree",
    "apply",
    "changes",
    "drop",
    "find",
    "kept_worktrees",
    "merge",
    "repository",
    "worktree",
]

_IDENTITY = {
    "GIT_AUTHOR_NAME": "pi",
    "GIT_AUTHOR_EMAIL": "pi@localhost",
    "GIT_COMMITTER_NAME": "pi",
    "GIT_COMMITTER_EMAIL": "pi@localhost",
}


@define(eq=False)
class Worktree:
    """The worktree of an agent.

    Attributes:
        path: Its top directory.
        cwd: The directory in it in which the agent works.
        branch: The branch, ``pi/ID``.
        stat: The changes in the format of ``git diff --stat``; empty while the agent is running, and without changes.
    """

    path: Path
    cwd: Path
    branch: str
    stat: str = ""


@frozen
class Kept:
    """A worktree that exists.

    Attributes:
        id: The agent's id, or the name given with ``pi -w``.
        path: Its top directory.
        base: The commit from which it was created.
    """

    id: str
    path: Path
    base: str

    @property
    def branch(self) -> str:
        """Its branch."""
        return f"pi/{self.id}"


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
class Merge:
    """Changes of a worktree that fit the user's files.

    Attributes:
        stat: The changes in the format of ``git diff --stat``; empty if the user's files contain them already.
        files: The names of the changed files, relative to the top.
        patch: The changes as a patch of the user's files.
    """

    stat: str
    files: list[str]
    patch: bytes


def repository(cwd: Path, prepare: Prepare | None = None) -> Git:
    """Return git for the repository that a folder belongs to.

    Raises:
        UserError: The folder does not belong to a git repository, or it belongs to another user.
    """
    try:
        return repository_of(cwd, prepare=prepare).with_(variables=_IDENTITY)
    except ForeignOwner as error:
        raise UserError(f"A worktree cannot be used: {error}") from error
    except GitFailed as error:
        raise UserError(f"A worktree needs a git repository: {error}. Run git init, or use isolation 'none'") from error


@asynccontextmanager
async def worktree(prepare: Prepare, member: Member, ctx: PiContext) -> AsyncIterator[Worktree]:
    """Create a worktree for an agent; afterwards commit the changes in it, or remove it if there are none.

    Raises:
        UserError: The folder is not in a git repository, or git cannot create the worktree.
    """
    git, inside, kept = await asyncio.to_thread(_begin, prepare, member, ctx)
    place = Worktree(kept.path, kept.path / git.below, kept.branch)
    place.cwd.mkdir(parents=True, exist_ok=True)  # a folder without files that git knows
    try:
        yield place
    finally:
        message = f"{member.name}: {member.description}"
        try:
            place.stat = await asyncio.to_thread(_keep_or_drop, git, inside, kept, message)
        except UserError as error:  # the agent's answer must not be lost for it
            place.stat = f" {error}"


def _begin(prepare: Prepare, member: Member, ctx: PiContext) -> tuple[Git, Git, Kept]:
    """Create a worktree; return git for the user's files and for the worktree. Nothing of it is left if that fails."""
    git = repository(ctx.cwd, prepare)
    path = worktree_folder(ctx.settings.agent_dir, git.top) / member.id
    kept = Kept(member.id, path, _base(git))
    try:
        inside = add_worktree(git, path, kept.base, branch=kept.branch)
        git("update-ref", _ref(kept.id), kept.base)
    except (OSError, UserError) as error:
        prune_worktrees(git)
        _forget(git, kept)
        raise UserError(
            f"The worktree {path} cannot be created: {error}. In a sandbox git needs {path.parent.parent} in "
            f"sandbox.write"
        ) from error
    return git, inside, kept


def _keep_or_drop(git: Git, inside: Git, kept: Kept, message: str) -> str:
    """Commit what was changed in a worktree and return its diffstat; remove the worktree if nothing was."""
    tree = tree_of_files(inside)
    if tree == resolve(git, f"{kept.base}^{{tree}}") and resolve(inside, "HEAD") == kept.base:
        drop(git, kept)
        return ""
    _commit(inside, tree, kept.branch, message)
    return diff_stat(git, kept.base, tree)


def kept_worktrees(git: Git, agent_dir: Path) -> list[Kept]:
    """Return the worktrees of a repository that pi made, those of ``pi -w`` included."""
    folder = worktree_folder(agent_dir, git.top)
    bases = git("for-each-ref", "--format=%(refname) %(objectname)", "refs/pi/base/")
    found = (line.split(" ") for line in bases.splitlines())
    names = [(name.removeprefix("refs/pi/base/"), commit) for name, commit in found]
    return [Kept(name, folder / name, commit) for name, commit in names if (folder / name / ".git").is_file()]


def find(git: Git, agent_dir: Path, wanted: str) -> Kept:
    """Return a worktree by its id.

    Raises:
        UserError: There is none.
    """
    kept = kept_worktrees(git, agent_dir)
    found = next((each for each in kept if each.id == wanted), None)
    if found is None:
        known = ", ".join(each.id for each in kept) or "none"
        raise UserError(f"There is no worktree {wanted!r} of {git.top}. It has: {known}")
    return found


def changes(git: Git, kept: Kept) -> str:
    """Return the changes in a worktree in the format of ``git diff --stat``; empty if there are none."""
    return diff_stat(git, kept.base, tree_of_files(worktree_at(git, kept.path)))


def merge(git: Git, kept: Kept) -> Merge:
    """Merge the changes in a worktree with the user's files, without changing any file.

    Raises:
        Conflict: The same was changed in the worktree and in the user's files.
    """
    mine, theirs = tree_of_files(git), tree_of_files(worktree_at(git, kept.path))
    tree, conflicts = merge_trees(git, kept.base, mine, theirs)
    if tree is None:
        raise Conflict(kept, conflicts)
    names = git.names("diff", "--name-only", "-z", mine, tree)
    return Merge(diff_stat(git, mine, tree), names, patch_between(git, mine, tree))


def apply(git: Git, merged: Merge) -> None:
    """Write merged changes to the user's files.

    Raises:
        UserError: A file was changed in the meantime; nothing is written.
    """
    apply_patch(git, merged.patch)


def _base(git: Git) -> str:
    """Return a commit of the current files: HEAD, or a new commit on top of it with the uncommitted changes."""
    head, tree = resolve(git, "HEAD"), tree_of_files(git)
    if head is not None and tree == resolve(git, "HEAD^{tree}"):
        return head
    parents = ["-p", head] if head is not None else []
    return git("commit-tree", tree, *parents, "-m", "Uncommitted changes, when the agent began")


def _commit(inside: Git, tree: str, branch: str, message: str) -> None:
    """Commit a worktree's files to its branch, whichever branch the agent has checked out there."""
    head = resolve(inside, "HEAD")
    commit = head
    if head is None or tree != resolve(inside, "HEAD^{tree}"):
        parents = ["-p", head] if head is not None else []
        commit = inside("commit-tree", tree, *parents, "-m", message)
    inside("update-ref", f"refs/heads/{branch}", str(commit))
    inside("read-tree", tree)


def drop(git: Git, kept: Kept) -> None:
    """Remove a worktree, its branch and its changes.

    Raises:
        UserError: git cannot remove it.
    """
    remove_worktree(git, kept.path)
    _forget(git, kept)


def _forget(git: Git, kept: Kept) -> None:
    """Remove git's records of a worktree whose folder no longer exists."""
    git.attempt("branch", "-D", kept.branch)
    git.attempt("update-ref", "-d", _ref(kept.id))


def _ref(name: str) -> str:
    return f"refs/pi/base/{name}"

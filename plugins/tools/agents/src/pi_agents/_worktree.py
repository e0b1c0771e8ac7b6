"""Worktrees of agents: a branch ``pi/ID`` that begins with the user's uncommitted changes; clean ones are removed.

The user's index, stash and HEAD are never touched. ``refs/pi/base/ID`` is where a worktree began.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from attrs import define, frozen

from pi_agents._git import git_in, repository_of
from pi_core import worktree_folder
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from pi_agents._git import Exec, Git
    from pi_agents._member import Member
    from pi_hookspecs import PiContext

__all__ = [
    "Kept",
    "Worktree",
    "apply",
    "changes",
    "drop",
    "find",
    "kept_worktrees",
    "prepared",
    "worktree",
]


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


@asynccontextmanager
async def worktree(run: Exec, member: Member, ctx: PiContext) -> AsyncIterator[Worktree]:
    """Create a worktree for an agent; afterwards commit the changes in it, or remove it if there are none.

    Raises:
        UserError: The folder is not in a git repository, or git cannot create the worktree.
    """
    git = await repository_of(run, ctx.cwd)
    path = worktree_folder(ctx.settings.agent_dir, git.folder.path) / member.id
    kept = Kept(member.id, path, await _base(git))
    inside = await _make(git, kept)
    place = Worktree(path, path / git.folder.below, kept.branch)
    place.cwd.mkdir(parents=True, exist_ok=True)  # a folder without files that git knows
    try:
        yield place
    finally:
        try:
            place.stat = await _keep_or_drop(git, inside, kept, f"{member.name}: {member.description}")
        except UserError as error:  # the agent's answer must not be lost for it
            place.stat = f" {error}"


async def _make(git: Git, kept: Kept) -> Git:
    """Create a worktree and return a ``Git`` for it; if that fails, nothing of the worktree is left."""
    path = kept.path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        await git("worktree", "add", "--quiet", "-b", kept.branch, str(path), kept.base)
        await git("update-ref", _ref(kept.id), kept.base)
        return await git_in(git.run, path, git.folder.common)
    except (OSError, UserError) as error:
        await git.attempt("worktree", "prune")
        await _forget(git, kept)
        raise UserError(
            f"The worktree {path} cannot be made: {error}. In a sandbox git needs {path.parent.parent} in sandbox.write"
        ) from error


async def _keep_or_drop(git: Git, inside: Git, kept: Kept, message: str) -> str:
    """Commit what was changed in a worktree and return its diffstat; remove the worktree if nothing was."""
    tree = await inside.tree()
    if tree == await git.resolve(f"{kept.base}^{{tree}}") and await inside.resolve("HEAD") == kept.base:
        await drop(git, kept)
        return ""
    await _commit(inside, tree, kept.branch, message)
    return await git.diff("--stat=80", kept.base, tree)


async def kept_worktrees(git: Git, agent_dir: Path) -> list[Kept]:
    """Return the worktrees of a repository that pi made, those of ``pi -w`` included."""
    folder = worktree_folder(agent_dir, git.folder.path)
    bases = await git("for-each-ref", "--format=%(refname) %(objectname)", "refs/pi/base/")
    found = (line.split(" ") for line in bases.splitlines())
    names = [(name.removeprefix("refs/pi/base/"), commit) for name, commit in found]
    return [Kept(name, folder / name, commit) for name, commit in names if (folder / name / ".git").is_file()]


async def find(git: Git, agent_dir: Path, wanted: str) -> Kept:
    """Return a worktree by its id.

    Raises:
        UserError: There is none.
    """
    kept = await kept_worktrees(git, agent_dir)
    found = next((each for each in kept if each.id == wanted), None)
    if found is None:
        known = ", ".join(each.id for each in kept) or "none"
        raise UserError(f"There is no worktree {wanted!r} of {git.folder.path}. There are: {known}")
    return found


async def changes(git: Git, kept: Kept) -> str:
    """Return the changes in a worktree in the format of ``git diff --stat``; empty if there are none."""
    tree = await (await git_in(git.run, kept.path, git.folder.common)).tree()
    return await git.diff("--stat=80", kept.base, tree)


@asynccontextmanager
async def prepared(git: Git, kept: Kept) -> AsyncIterator[tuple[str, Path]]:
    """Merge the changes in a worktree with the user's files without changing any file; yield the preview and the patch.

    The preview is empty if the user's files already contain the changes.

    Raises:
        UserError: The same lines were changed in the worktree and in the user's files.
    """
    tree = await (await git_in(git.run, kept.path, git.folder.common)).tree()
    patch = git.folder.git_dir / f"pi-{kept.id}.patch"
    try:
        async with git.snapshot() as (mine, index):
            await git.diff("--binary", "--full-index", f"--output={patch}", kept.base, tree)
            if patch.stat().st_size:
                await _merge(git, kept, patch, index)
            merged = await git("write-tree", index=index)
        await git.diff("--binary", "--full-index", f"--output={patch}", mine, merged)
        yield await git.diff("--stat=80", mine, merged), patch
    finally:
        patch.unlink(missing_ok=True)


async def _merge(git: Git, kept: Kept, patch: Path, index: Path) -> None:
    result = await git.attempt("apply", "--3way", "--cached", "--whitespace=nowarn", str(patch), index=index)
    conflicts = await git.diff("--name-only", "--diff-filter=U", "--cached", index=index)
    if result.code or conflicts:
        where = ", ".join(dict.fromkeys(conflicts.splitlines())) or result.stderr.strip().splitlines()[-1]
        raise UserError(
            f"The work of {kept.id} conflicts with your files, and nothing was changed: {where}."
            f" Look at it in {kept.path}, or merge the branch {kept.branch} yourself"
        )


async def apply(git: Git, patch: Path) -> None:
    """Write the changes of a patch to the user's files.

    Raises:
        UserError: A file was changed in the meantime; nothing is written.
    """
    await git("apply", "--whitespace=nowarn", str(patch))


async def _base(git: Git) -> str:
    """Return a commit of the current files: HEAD, or a new commit on top of it with the uncommitted changes."""
    head, tree = await git.resolve("HEAD"), await git.tree()
    if head is not None and tree == await git.resolve("HEAD^{tree}"):
        return head
    parents = ["-p", head] if head is not None else []
    return await git("commit-tree", tree, *parents, "-m", "Uncommitted changes, when the agent began")


async def _commit(inside: Git, tree: str, branch: str, message: str) -> None:
    """Commit a worktree's files to its branch, whichever branch the agent has checked out there."""
    head = await inside.resolve("HEAD")
    commit = head
    if head is None or tree != await inside.resolve("HEAD^{tree}"):
        parents = ["-p", head] if head is not None else []
        commit = await inside("commit-tree", tree, *parents, "-m", message)
    await inside("update-ref", f"refs/heads/{branch}", str(commit))
    await inside("read-tree", tree)


async def drop(git: Git, kept: Kept) -> None:
    """Remove a worktree, its branch and its changes.

    Raises:
        UserError: git cannot remove it.
    """
    removed = await git.attempt("worktree", "remove", "--force", "--force", str(kept.path))
    if removed.code and kept.path.exists():
        raise UserError(f"git cannot remove {kept.path}: {removed.stderr.strip()}")
    await _forget(git, kept)


async def _forget(git: Git, kept: Kept) -> None:
    """Remove git's records of a worktree whose folder no longer exists."""
    await git.attempt("branch", "-D", kept.branch)
    await git.attempt("update-ref", "-d", _ref(kept.id))


def _ref(name: str) -> str:
    return f"refs/pi/base/{name}"

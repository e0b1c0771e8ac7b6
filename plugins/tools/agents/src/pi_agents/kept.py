"""Worktrees that exist, those of ``pi -w`` included, and what stands in each of them."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import field, frozen

from pi_core import worktree_folder
from pi_git_kit import (
    ForeignOwner,
    GitFailed,
    describe_extras,
    diff_stat,
    files_that_stand,
    parts_of,
    repository_of,
    resolve,
    worktree_at,
)
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from pi_git_kit import Extra, Git, Part, Prepare, Standing

__all__ = [
    "BASES",
    "Kept",
    "Look",
    "commits_of",
    "find",
    "inside_of",
    "kept_worktrees",
    "look_at",
    "prefixed",
    "repository",
]

BASES = "refs/pi/base/"
"""The references that name where worktrees began."""

_IDENTITY = {
    "GIT_AUTHOR_NAME": "pi",
    "GIT_AUTHOR_EMAIL": "pi@localhost",
    "GIT_COMMITTER_NAME": "pi",
    "GIT_COMMITTER_EMAIL": "pi@localhost",
}
_UNREAD = "not compared with its beginning: your files have no repository there now"
_MOST_COMMITS = 500


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

    @property
    def ref(self) -> str:
        """The reference that names where it began."""
        return f"{BASES}{self.id}"


@frozen
class Look:
    """What stands in a worktree.

    Attributes:
        stat: What differs from its beginning, in the format of ``git diff --stat``, with lines about what no tree of
            git holds; empty if nothing does.
        parts: The worktree and the nested repositories that it has, with the state of each.
        unread: Lines about folders that cannot be compared, because the user's files have no repository there.
    """

    stat: str
    parts: list[tuple[Part, Standing]] = field(factory=list)
    unread: list[str] = field(factory=list)

    @property
    def tree(self) -> str:
        """The tree of the worktree's files."""
        return self.parts[0][1].tree


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


def kept_worktrees(git: Git, agent_dir: Path) -> list[Kept]:
    """Return the worktrees of a repository that pi made, those of agents that worked in one of them included."""
    bases = git("for-each-ref", "--format=%(refname) %(objectname)", BASES)
    found = (line.split(" ") for line in bases.splitlines())
    names = [(name.removeprefix(BASES), commit) for name, commit in found]
    places = ((name, _place(git, agent_dir, name), commit) for name, commit in names)
    return [Kept(name, path, commit) for name, path, commit in places if path is not None]


def _place(git: Git, agent_dir: Path, name: str) -> Path | None:
    """Return the folder of a worktree; that of an agent's agent is beside those of the worktree that it began in."""
    folder = worktree_folder(agent_dir, git.top)
    if (folder / name).is_dir():
        return folder / name
    for path in sorted(folder.parent.glob(f"*/{name}")):
        with suppress(GitFailed):
            worktree_at(git, path)
            return path
    return None


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


def inside_of(git: Git, kept: Kept) -> Git:
    """Return git for a worktree, also for one whose record in the repository is lost.

    Raises:
        UserError: Its folder no longer exists.
    """
    if not kept.path.is_dir():
        raise UserError(f"The worktree {kept.path} no longer exists")
    try:
        return worktree_at(git, kept.path)
    except GitFailed:  # removed by ``git worktree prune``, for instance
        return git.with_(top=kept.path, git_dir=git.common, below=Path(), index=git.common / f"pi-none-{kept.id}")


def look_at(git: Git, kept: Kept, caches: Collection[str]) -> Look:
    """Return what stands in a worktree.

    Raises:
        UserError: Its folder no longer exists, or git cannot be run.
    """
    inside = inside_of(git, kept)
    found: list[tuple[Part, Standing]] = []
    stats: list[str] = []
    extras: list[tuple[str, Extra]] = []
    parts = parts_of(git, inside, kept.base)
    gone = set(parts[0].apart) - {part.path for part in parts}
    unread = [f" {path}/ | {_UNREAD}" for path in sorted(gone)]
    for part in parts:
        with _opened(part.inside.top) as is_folder:
            if not is_folder:  # something else stands in its place, which belongs to the outer part
                continue
            state = files_that_stand(part.inside, part.base, first=part.first, caches=caches, apart=part.apart)
            stats.append(prefixed(part, diff_stat(part.inside, part.base, state.plain)))
        found.append((part, state))
        extras += [(_below(part, extra.path), extra) for extra in state.extras]
    stats += [*describe_extras(extras), *unread, *_beside_files(git, inside, kept, found[0][1].tree)]
    return Look("\n".join(filter(None, stats)), found, unread)


def prefixed(part: Part, stat: str) -> str:
    """Return a diffstat of a nested repository with its folder before each name."""
    if not part.path:
        return stat
    lines = [f" {part.path}/{line[1:]}" if " | " in line else f" {part.path}/:{line}" for line in stat.splitlines()]
    return "\n".join(lines)


def _below(part: Part, path: str) -> str:
    return f"{part.path}/{path}" if part.path else path


@contextmanager
def _opened(folder: Path) -> Iterator[bool]:
    """Let a folder exist for a while, since git can only run where one is; yield whether it is a folder."""
    new = [each for each in (folder, *folder.parents) if not os.path.lexists(each)]
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        yield folder.is_dir() and not folder.is_symlink()
    finally:
        with suppress(OSError):
            for each in new:
                each.rmdir()


def _beside_files(git: Git, inside: Git, kept: Kept, tree: str) -> list[str]:
    """Return lines about what the index and the commits of a worktree have, but not its files."""
    if inside.index is not None:
        return []
    lines = []
    staged = inside.attempt("write-tree")
    known = {tree, resolve(git, f"{kept.base}^{{tree}}"), resolve(inside, "HEAD^{tree}")}
    if staged.code or staged.data.decode().strip() not in known:
        lines.append(" (the index) | staged changes that the files do not have")
    lonely = _lonely(git, commits_of(inside))
    tips = (resolve(inside, "HEAD"), resolve(git, f"refs/heads/{kept.branch}"))
    ahead = [tip for tip in tips if tip not in (None, kept.base)]
    if lonely:
        lines.append(f" (commits) | on no branch: {lonely[:12]}")
    elif ahead and tree == resolve(git, f"{kept.base}^{{tree}}"):
        lines.append(f" (commits) | {str(ahead[0])[:12]}, without a change of files")
    return lines


def commits_of(inside: Git) -> list[str]:
    """Return the commits that have been checked out in a worktree, the newest first."""
    try:
        log = (inside.git_dir / "logs" / "HEAD").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    ids = (line.split(" ", 2)[1] for line in reversed(log.splitlines()) if line.count(" ") > 1)
    return [each for each in dict.fromkeys(ids) if re.fullmatch(r"[0-9a-f]{40,64}", each) and each.strip("0")]


def _lonely(git: Git, commits: list[str]) -> str:
    """Return a commit that no reference of the repository reaches; empty if there is none."""
    if not commits:
        return ""
    output = git.attempt("rev-list", "--max-count=1", *commits[:_MOST_COMMITS], "--not", "--single-worktree", "--all")
    return commits[0] if output.code else output.data.decode().strip()  # an object is missing: who knows

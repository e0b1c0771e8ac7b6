"""A replay's folder: the session's own, an empty replacement, or a git worktree in which tools run."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define

from pi_core import worktree_folder
from pi_git_kit import (
    GitFailed,
    add_worktree,
    describe_extras,
    diff_stat,
    files_that_stand,
    folder_in,
    remove_worktree,
    repository_of,
    resolve,
)
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_git_kit import Git

__all__ = ["Folder", "session_folder", "worktree"]


@define
class Folder:
    """The working directory of a replay.

    Attributes:
        cwd: The folder that corresponds to the session's.
        note: What to tell the user about it after the replay; may be empty.
    """

    cwd: Path
    note: str = ""


@contextmanager
def session_folder(cwd: Path) -> Iterator[Folder]:
    """Yield the session's folder, or an empty temporary one if it was removed, as ``pi batch`` does."""
    if cwd.is_dir():
        yield Folder(cwd)
        return
    with tempfile.TemporaryDirectory(prefix="pi-replay-") as empty:
        note = f"The folder of the session, {str(cwd)!r}, does not exist: the replay ran in an empty one."
        yield Folder(Path(empty).resolve(), note)


@contextmanager
def worktree(cwd: Path, agent_dir: Path, name: str, commit: str) -> Iterator[Folder]:
    """Create a worktree of a folder's repository; remove it afterwards if nothing was changed in it.

    Args:
        cwd: The folder of the session.
        agent_dir: The worktree is created below it.
        name: The name of the worktree.
        commit: The commit to check out.

    Raises:
        UserError: The folder does not exist or is in no repository, there is no such commit, or git cannot make the
            worktree.
    """
    if not cwd.is_dir():
        raise UserError(
            f"--tools live-in-worktree needs the session's repository, and {str(cwd)!r} does not exist. Restore it,"
            " or replay with the recorded tools."
        )
    try:
        git = repository_of(cwd)
        path = worktree_folder(agent_dir, git.top) / name
        inside = add_worktree(git, path, commit)
    except GitFailed as error:
        raise UserError(f"--tools live-in-worktree needs a git worktree: {error}") from error
    place = Folder(folder_in(inside, git.below))  # git knows no folder without files
    try:
        yield place
    finally:
        place.note = _leave(git, inside, commit)


def _leave(git: Git, inside: Git, commit: str) -> str:
    path = inside.top
    state = files_that_stand(inside, commit)
    rows = describe_extras((extra.path, extra) for extra in state.extras)
    changes = "\n".join(filter(None, [diff_stat(inside, commit, state.plain), *rows]))
    if not changes and resolve(inside, "HEAD") == resolve(git, f"{commit}^{{commit}}"):
        remove_worktree(git, path)
        return "The tools changed no files."
    return f"The tools changed files, in {path} (git worktree remove --force {path} drops them):\n{changes}"

"""A git worktree in which the tools of a replay run, apart from the user's files."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define

from pi_core import worktree_folder
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Worktree", "worktree"]


@define
class Worktree:
    """Where tools run.

    Attributes:
        cwd: The folder that corresponds to that of the session.
        note: What became of it, once it is over.
    """

    cwd: Path
    note: str = ""


@contextmanager
def worktree(cwd: Path, agent_dir: Path, name: str, commit: str) -> Iterator[Worktree]:
    """Make a worktree of the repository that a folder is in; afterwards remove it if nothing was changed in it.

    Args:
        cwd: The folder of the session.
        agent_dir: Below it the worktree is made.
        name: What the worktree is called.
        commit: What it begins with.

    Raises:
        UserError: The folder is in no repository, there is no such commit, or git cannot make the worktree.
    """
    top = Path(_git(cwd, "rev-parse", "--show-toplevel"))
    path = worktree_folder(agent_dir, top) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    _git(top, "worktree", "add", "--quiet", "--detach", str(path), commit)
    place = Worktree(path / cwd.resolve().relative_to(top.resolve()))
    place.cwd.mkdir(parents=True, exist_ok=True)  # a folder without files that git knows
    try:
        yield place
    finally:
        place.note = _leave(top, path)


def _leave(top: Path, path: Path) -> str:
    _git(path, "add", "--all", "--intent-to-add")
    changes = _git(path, "diff", "--stat=80")
    if not changes:
        _git(top, "worktree", "remove", "--force", str(path))
        return "The tools changed no files."
    return f"The tools changed files, in {path} (git worktree remove --force {path} drops them):\n{changes}"


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "core.hooksPath=/dev/null", *arguments]
    try:
        done = subprocess.run(  # noqa: S603 - the user's own request
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as error:
        raise UserError(f"--tools live-in-worktree needs git, which cannot be run: {error.strerror}") from error
    if done.returncode:
        why = (done.stderr.strip().splitlines() or [""])[-1]
        raise UserError(
            f"--tools live-in-worktree needs a git worktree: git {arguments[0]} failed in {str(folder)!r}: {why}"
        )
    return done.stdout.strip("\n")

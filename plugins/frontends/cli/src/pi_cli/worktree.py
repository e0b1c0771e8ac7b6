"""``pi -w NAME``: a session in a separate git worktree, which is created if it does not exist."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from pi_cli.report import say
from pi_core import agent_dir, worktree_folder
from pi_git_kit import (
    GitFailed,
    add_parts,
    add_worktree,
    folder_in,
    remove_worktree,
    repository_of,
    resolve,
    worktree_at,
)
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pi_git_kit import Git

__all__ = ["enter_worktree"]

_NAME = re.compile(r"[A-Za-z0-9](?:[\w-]|\.(?!\.|lock$|$)){0,63}")


def enter_worktree(name: str, cwd: Path, environ: Mapping[str, str]) -> Path:
    """Make the process work in a worktree, in the folder that corresponds to the current one, and return that folder.

    The worktree begins at HEAD, without uncommitted changes, on the branch ``pi/NAME``; ``refs/pi/base/NAME`` names
    where it began.

    Raises:
        UserError: The name cannot be that of a branch, the folder is in no repository, or git cannot make the worktree.
    """
    if not _NAME.fullmatch(name):
        raise UserError(f"-w {name!r}: a worktree's name must be up to 64 letters, digits, '-', '_' and '.'")
    try:
        git = repository_of(cwd, environ=environ)
        path = worktree_folder(agent_dir(environ), git.top) / name
        if not path.is_dir():
            _make(git, path, name)
        folder = _folder(git, path)
    except GitFailed as error:
        raise UserError(f"pi -w needs a git worktree: {error}") from error
    say(f"Working in {path}, branch pi/{name}. pi agents worktrees lists what it contains")
    os.chdir(folder)
    return folder


def _folder(git: Git, path: Path) -> Path:
    """Return the folder in the worktree that corresponds to the current one; git knows no folder without files."""
    try:
        return folder_in(worktree_at(git, path), git.below)
    except GitFailed:  # its record in the repository is lost, but not the work
        folder = path / git.below
        folder.mkdir(parents=True, exist_ok=True)
        return folder


def _make(git: Git, path: Path, name: str) -> None:
    branch = f"pi/{name}"
    with suppress(GitFailed):  # its folder may have been removed by hand
        worktree_at(git, path)
        remove_worktree(git, path)
    if resolve(git, f"refs/heads/{branch}") is not None:
        inside = add_worktree(git, path, branch)
    else:
        inside = add_worktree(git, path, "HEAD", branch=branch)
        git("update-ref", f"refs/pi/base/{name}", "HEAD")
    for folder, reason in add_parts(git, inside, "HEAD", f"refs/pi/base/{name}", committed=True).items():
        say(f"{folder} is empty in the worktree: {reason}")

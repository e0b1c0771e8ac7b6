"""``pi -w NAME``: a session in a separate git worktree, which is created if it does not exist."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from pi_cli.report import say
from pi_core.base.paths import agent_dir
from pi_core.base.worktrees import worktree_folder
from pi_git_kit import GitFailed, add_worktree, prune_worktrees, repository_of, resolve
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
    except GitFailed as error:
        raise UserError(f"pi -w needs a git worktree: {error}") from error
    say(f"Working in {path}, branch pi/{name}. pi agents worktrees lists what it contains")
    folder = path / git.below
    folder.mkdir(parents=True, exist_ok=True)  # a folder without files that git tracks
    os.chdir(folder)
    return folder


def _make(git: Git, path: Path, name: str) -> None:
    branch = f"pi/{name}"
    prune_worktrees(git)  # its folder may have been removed by hand
    if resolve(git, f"refs/heads/{branch}") is not None:
        add_worktree(git, path, branch)
    else:
        add_worktree(git, path, "HEAD", branch=branch)
        git("update-ref", f"refs/pi/base/{name}", "HEAD")

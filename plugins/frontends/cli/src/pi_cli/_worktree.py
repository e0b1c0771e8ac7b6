"""``pi -w NAME``: a session in a separate git worktree, which is created if it does not exist."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from pi_cli._report import say
from pi_core.base.paths import agent_dir
from pi_core.base.worktrees import worktree_folder
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        raise UserError(f"-w {name!r}: a worktree's name has up to 64 letters, digits, '-', '_' and '.'")
    lines = _git(cwd, "rev-parse", "--show-toplevel", "--show-prefix").splitlines()
    top, below = Path(lines[0]), lines[1] if len(lines) > 1 else ""
    path = worktree_folder(agent_dir(environ), top) / name
    if not path.is_dir():
        _make(top, path, name)
    say(f"Working in {path}, branch pi/{name}. pi agents worktrees lists what it contains")
    folder = path / below
    folder.mkdir(parents=True, exist_ok=True)  # a folder without files that git tracks
    os.chdir(folder)
    return folder


def _make(top: Path, path: Path, name: str) -> None:
    branch = f"pi/{name}"
    path.parent.mkdir(parents=True, exist_ok=True)
    _git(top, "worktree", "prune")  # its folder may have been removed by hand
    if _git(top, "branch", "--list", branch):
        _git(top, "worktree", "add", "--quiet", str(path), branch)
    else:
        _git(top, "worktree", "add", "--quiet", "-b", branch, str(path), "HEAD")
        _git(top, "update-ref", f"refs/pi/base/{name}", "HEAD")


def _git(folder: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - the user's own request
            ["git", *arguments],  # noqa: S607 - the user's own git
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except OSError as error:
        raise UserError(f"pi -w needs git, which cannot be run: {error.strerror}") from error
    if done.returncode:
        why = done.stderr.decode(errors="replace").strip().splitlines()
        raise UserError(f"pi -w needs a git worktree: git {arguments[0]} failed in {folder}: {why[-1] if why else ''}")
    return os.fsdecode(done.stdout).strip("\n")

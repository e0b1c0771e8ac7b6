"""Runs git without the user's hooks, and creates tree objects of a folder without touching its index."""

from __future__ import annotations

import os
import shutil
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from attrs import frozen

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from pi_hookspecs import ExecResult

__all__ = ["Exec", "Folder", "Git", "git_in", "repository_of"]

Exec: TypeAlias = "Callable[..., Awaitable[ExecResult]]"
"""``pi.exec``, or another function like it."""

_SETTINGS = (
    "advice.addEmbeddedRepo=false",
    "color.ui=false",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "diff.mnemonicPrefix=false",
    "diff.noprefix=false",
)
"""Overrides the user's configuration: git runs no other programs, and patches are in the format of ``git apply``."""
_IDENTITY = {
    "GIT_AUTHOR_NAME": "pi",
    "GIT_AUTHOR_EMAIL": "pi@localhost",
    "GIT_COMMITTER_NAME": "pi",
    "GIT_COMMITTER_EMAIL": "pi@localhost",
}


@frozen
class Folder:
    """A working directory of git and the directory with its index.

    Attributes:
        path: The top of the working directory.
        git_dir: The directory with its index and HEAD.
        common: The git directory that it shares with the repository's other working directories.
        below: The directory in which pi works, relative to the top.
    """

    path: Path
    git_dir: Path
    common: Path
    below: Path = Path()


@frozen
class Git:
    """Runs git for a folder with an explicit git directory, so that files written by an agent cannot redirect git."""

    run: Exec
    folder: Folder

    async def __call__(self, *arguments: str, index: Path | None = None) -> str:
        """Run git and return what it printed.

        Raises:
            UserError: git failed.
        """
        result = await self.attempt(*arguments, index=index)
        if result.code:
            why = (result.stderr or result.stdout).strip().splitlines()
            raise UserError(f"git {arguments[0]} failed in {self.folder.path}: {why[-1] if why else result.code}")
        return result.stdout.strip("\n")

    async def attempt(self, *arguments: str, index: Path | None = None) -> ExecResult:
        """Run git and return its output and exit code."""
        environment = {**_IDENTITY, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
        if index is not None:
            environment["GIT_INDEX_FILE"] = str(index)
        place = (f"--git-dir={self.folder.git_dir}", f"--work-tree={self.folder.path}")
        settings = (part for each in _SETTINGS for part in ("-c", each))
        return await self.run("git", [*settings, *place, *arguments], cwd=self.folder.path, env=environment)

    async def diff(self, *arguments: str, index: Path | None = None) -> str:
        """Run ``git diff`` without programs that the user has configured for it."""
        return await self("diff", "--no-ext-diff", "--no-textconv", *arguments, index=index)

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[tuple[str, Path]]:
        """Yield the tree of the folder's files, without ignored files, and a temporary index that contains it."""
        index = self.folder.git_dir / f"pi-index-{os.getpid()}-{id(self):x}"
        try:
            with suppress(FileNotFoundError):
                shutil.copyfile(self.folder.git_dir / "index", index)
            await self("add", "--all", index=index)
            yield await self("write-tree", index=index), index
        finally:
            index.unlink(missing_ok=True)
            index.with_name(f"{index.name}.lock").unlink(missing_ok=True)

    async def tree(self) -> str:
        """Return the tree of the folder's files, without ignored files."""
        async with self.snapshot() as (tree, _):
            return tree

    async def resolve(self, name: str) -> str | None:
        """Return the id of an object; None if there is no object of this name."""
        result = await self.attempt("rev-parse", "--verify", "--quiet", name)
        return result.stdout.strip() or None if not result.code else None


async def repository_of(run: Exec, cwd: Path) -> Git:
    """Return git for the repository that a folder belongs to.

    Raises:
        UserError: The folder does not belong to a git repository.
    """
    wanted = ("--show-toplevel", "--absolute-git-dir", "--git-common-dir", "--show-prefix")
    result = await run("git", ["-C", str(cwd), "rev-parse", *wanted])
    lines = result.stdout.splitlines()
    if result.code or len(lines) < 3:  # noqa: PLR2004 - the last is empty at the top
        why = result.stderr.strip().splitlines()
        raise UserError(
            f"A worktree needs a git repository, and {cwd} is in none ({why[-1] if why else 'git cannot be run'})."
            " Run git init, or use isolation 'none'"
        )
    top, git_dir, common = Path(lines[0]), Path(lines[1]), Path(lines[2])
    below = Path(lines[3]) if len(lines) > 3 else Path()  # noqa: PLR2004 - as above
    return Git(run, Folder(top, git_dir, (cwd / common).resolve(), below))


async def git_in(run: Exec, path: Path, common: Path) -> Git:
    """Return git for a worktree of a repository, found from the repository's side.

    Raises:
        UserError: The folder is not a worktree of the repository.
    """
    for entry in sorted((common / "worktrees").glob("*/gitdir")):
        if Path(entry.read_text(encoding="utf-8", errors="surrogateescape").strip()) == path / ".git":
            return Git(run, Folder(path, entry.parent, common))
    raise UserError(f"{path} is not a worktree of {common}")

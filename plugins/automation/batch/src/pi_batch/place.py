"""The working directory of one attempt: a copy of a repository or directory, and the changes made in it."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from pi_git_kit import GitFailed, clone_shared, patch_between, repository_of, stage_all
from pi_hookspecs import UserError
from pi_process_kit import write_files

if TYPE_CHECKING:
    from pi_batch.tasks import Task
    from pi_git_kit import Git

__all__ = ["Place", "make_place"]


class Place:
    """The directory in which an attempt runs.

    Args:
        work: The working directory.
        git: The copied repository, with an index that is separate from the one that tools see; None if the source is
            not a repository.
    """

    def __init__(self, work: Path, git: Git | None) -> None:
        self.work = work
        self._git = git
        self._base = ""

    async def begin(self) -> None:
        """Record the current state of the files."""
        if self._git is not None:
            await asyncio.to_thread(self._git, "read-tree", "HEAD")
            self._base = await self._tree(self._git)

    async def patch(self) -> bytes | None:
        """Return the changes since ``begin`` as a git patch; None for a directory that is not a repository."""
        if self._git is None:
            return None
        return await asyncio.to_thread(patch_between, self._git, self._base, await self._tree(self._git))

    async def _tree(self, git: Git) -> str:
        await asyncio.to_thread(stage_all, git)
        return await asyncio.to_thread(git, "write-tree")


async def make_place(task: Task, folder: Path) -> Place:
    """Create the directory of an attempt.

    A repository is cloned with shared objects and without its remote, so that branches, stashes and pushes of the task
    stay in the clone.

    Raises:
        UserError: The repository, directory or commit does not exist, or git cannot be run.
    """
    work, git = folder / "work", None
    if task.repo is None:
        work.mkdir(parents=True)
    elif not await asyncio.to_thread(os.path.isdir, task.repo):
        raise UserError(f"The repo {task.repo!r} does not exist, or is not a folder.")
    elif (source := await asyncio.to_thread(_repository, Path(task.repo))) is not None:
        git = await asyncio.to_thread(clone_shared, source, work, task.commit or "HEAD")
        git = git.with_(index=folder / "index")
        work = work / source.below
        work.mkdir(parents=True, exist_ok=True)
    elif task.commit is not None:
        raise UserError(f"The repo {task.repo!r} is not a git repository, so there is no commit {task.commit!r}.")
    else:
        await asyncio.to_thread(shutil.copytree, task.repo, work, symlinks=True)
    await asyncio.to_thread(write_files, work, task.files)
    place = Place(work, git)
    await place.begin()
    return place


def _repository(folder: Path) -> Git | None:
    try:
        return repository_of(folder)
    except GitFailed as error:
        if error.code is None:  # git cannot be run
            raise
        return None

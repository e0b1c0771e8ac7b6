"""The working directory of one attempt: a copy of a repository or directory, and the changes made in it."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from pi_hookspecs import UserError
from pi_hookspecs.service_values import SpawnRequest
from pi_process_kit import start_child

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_batch._tasks import Task

__all__ = ["Place", "make_place", "run_program"]

_SAFE = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false")


class Place:
    """The directory in which an attempt runs.

    Args:
        work: The working directory.
        top: The top directory of the copied repository; None if the source is not a repository.
        index: The path of a git index that is separate from the index that tools see.
    """

    def __init__(self, work: Path, top: Path | None, index: Path) -> None:
        self.work = work
        self._top = top
        self._env = {"GIT_INDEX_FILE": str(index)}
        self._base = ""

    async def begin(self) -> None:
        """Record the current state of the files."""
        if self._top is not None:
            await _git(self._top, ["read-tree", "HEAD"], self._env)
            self._base = await self._tree()

    async def patch(self) -> bytes | None:
        """Return the changes since ``begin`` as a git patch; None for a directory that is not a repository."""
        if self._top is None:
            return None
        return await _git_bytes(
            self._top, ["diff", "--binary", "--no-color", self._base, await self._tree()], self._env
        )

    async def _tree(self) -> str:
        assert self._top is not None  # noqa: S101 - callers look
        await _git(self._top, ["add", "--all"], self._env)
        return await _git(self._top, ["write-tree"], self._env)


async def make_place(task: Task, folder: Path) -> Place:
    """Create the directory of an attempt.

    A repository is cloned with shared objects and without its remote, so that branches, stashes and pushes of the task
    stay in the clone.

    Raises:
        UserError: The repository, directory or commit does not exist, or git cannot be run.
    """
    work, top = folder / "work", None
    if task.repo is None:
        work.mkdir(parents=True)
    elif not await asyncio.to_thread(os.path.isdir, task.repo):
        raise UserError(f"The repo {task.repo!r} does not exist, or is not a folder.")
    elif (source := await _top(task.repo)) is not None:
        top = work
        work = await _clone(task, source, top)
    elif task.commit is not None:
        raise UserError(f"The repo {task.repo!r} is not a git repository, so that there is no commit {task.commit!r}.")
    else:
        await asyncio.to_thread(shutil.copytree, task.repo, work, symlinks=True)
    for path, text in task.files.items():
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).write_text(text, encoding="utf-8")
    place = Place(work, top, folder / "index")
    await place.begin()
    return place


async def _top(repo: str) -> Path | None:
    code, output, _ = await run_program(["git", *_SAFE, "rev-parse", "--show-toplevel"], Path(repo))
    return Path(os.fsdecode(output.removesuffix(b"\n"))) if code == 0 else None


async def _clone(task: Task, source: Path, top: Path) -> Path:
    assert task.repo is not None  # noqa: S101 - callers look
    commit = await _git(source, ["rev-parse", "--verify", "--end-of-options", f"{task.commit or 'HEAD'}^{{commit}}"])
    await _git(source, ["clone", "--quiet", "--shared", "--no-checkout", str(source), str(top)])
    await _git(top, ["remote", "remove", "origin"])
    await _git(top, ["checkout", "--quiet", "--detach", commit])
    return await asyncio.to_thread(_inside, top, Path(task.repo), source)


def _inside(top: Path, repo: Path, source: Path) -> Path:
    """Return the folder of a clone that corresponds to one of its source, created if needed."""
    work = top / repo.resolve().relative_to(source.resolve())
    work.mkdir(parents=True, exist_ok=True)
    return work


async def _git(folder: Path, arguments: Sequence[str], env: Mapping[str, str] | None = None) -> str:
    return (await _git_bytes(folder, arguments, env)).decode(errors="replace").strip()


async def _git_bytes(folder: Path, arguments: Sequence[str], env: Mapping[str, str] | None = None) -> bytes:
    code, output, complaints = await run_program(["git", *_SAFE, *arguments], folder, env)
    if code:
        why = (complaints.decode(errors="replace").strip().splitlines() or [f"it ended with {code}"])[-1]
        raise UserError(f"git {arguments[0]} failed in {str(folder)!r}: {why}")
    return output


async def run_program(
    argv: Sequence[str], folder: Path, env: Mapping[str, str] | None = None, seconds: float | None = None
) -> tuple[int, bytes, bytes]:
    """Run a program that never outlives pi; return its exit code, standard output and standard error.

    Raises:
        ProcessFailure: The program cannot be started.
    """
    program = shutil.which(argv[0]) or argv[0]
    request = SpawnRequest(
        argv=(program, *argv[1:]), cwd=str(folder), env={**os.environ, **(env or {})}, purpose="batch"
    )
    async with await start_child(request, timeout=seconds) as child:
        child.stdin.close()
        assert child.stderr is not None  # noqa: S101 - it is a pipe
        output, complaints = await asyncio.gather(child.stdout.read(), child.stderr.read())
        return await child.wait(), output, complaints

"""Finds the files, in the order in which they are put into the prompt."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pi_hookspecs
from pi_core import escapes_root

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pi_hookspecs import ResourceFile, ResourceProblem, ResourceRequest, ResourceScope

__all__ = ["NAMES", "context_files", "named_files"]

NAMES = ("AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD")
"""Names of context files; the first that exists in a folder is used."""


def context_files(request: ResourceRequest) -> Iterator[ResourceFile | ResourceProblem]:
    """Yield the context files: the user's own, then one per folder from the root to the working directory.

    They are used in untrusted projects, too, except for a link that leads out of such a project: a clone may contain
    one to a file of keys, or to ``/proc/self/environ``.
    """
    own = _context_file(str(request.agent_dir))
    if own is not None:
        yield _file(own, "user")
    folders = [str(folder) for folder in reversed((request.cwd, *request.cwd.parents))]
    found = {folder: path for folder in folders if (path := _context_file(folder)) is not None}
    twice = _copied_by_worktree(request.cwd, found)
    repository = _repository(request.cwd)
    for folder, path in found.items():
        if folder == twice:
            continue
        if request.project_trusted or not (os.path.islink(path) and escapes_root(path, folder, repository or folder)):
            yield _file(path, "project")
        else:
            message = "is a link out of the project, which is not trusted; it is not used. Run pi trust to use it"
            yield pi_hookspecs.ResourceProblem(path=path, message=message)


def named_files(name: str, request: ResourceRequest) -> Iterator[ResourceFile]:
    """Yield the files of this name: the project's, if it is trusted, before the user's."""
    folders: list[tuple[Path, ResourceScope]] = [(request.agent_dir, "user")]
    if request.project_trusted:
        folders.insert(0, (request.cwd / ".pi", "project"))
    for folder, scope in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            yield _file(path, scope)


def _context_file(folder: str) -> str | None:
    paths = (os.path.join(folder, name) for name in NAMES)
    return next((path for path in paths if os.path.isfile(path)), None)


def _repository(cwd: Path) -> str | None:
    return next((str(folder) for folder in (cwd, *cwd.parents) if os.path.lexists(folder / ".git")), None)


def _copied_by_worktree(cwd: Path, found: dict[str, str]) -> str | None:
    """Return the main folder of a repository when a linked worktree inside it has a copy of its file; else None."""
    for folder in (cwd, *cwd.parents):
        mark = os.path.join(folder, ".git")
        if os.path.isdir(mark):
            return None
        if os.path.isfile(mark):
            main = _main_folder(str(folder), mark)
            return main if main in found and str(folder) in found else None
    return None


def _main_folder(worktree: str, mark: str) -> str | None:
    """Return the folder of the repository that a ``.git`` file belongs to; None where it is not a linked worktree."""
    try:
        with open(mark, encoding="utf-8", errors="replace") as file:
            line = file.readline(_LONGEST)
    except OSError:
        return None
    key, _, target = line.partition(":")
    if key != "gitdir":
        return None
    head, found, _ = os.path.normpath(os.path.join(worktree, target.strip())).partition(_WORKTREES)
    return head if found else None


_WORKTREES = os.path.join(os.sep, ".git", "worktrees", "")
_LONGEST = 4096


def _file(path: str, scope: ResourceScope) -> ResourceFile:
    return pi_hookspecs.ResourceFile(path=path, scope=scope, source="auto", base_dir=os.path.dirname(path))

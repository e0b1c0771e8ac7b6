"""Finds the files, in the order in which they are put into the prompt."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pi_hookspecs
from pi_context_files.claude import LOCAL, RULES, claude_files
from pi_core import escapes_root

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pi_hookspecs import ResourceFile, ResourceProblem, ResourceRequest, ResourceScope

__all__ = ["FOLLOWED", "NAMES", "context_files", "named_files"]

NAMES = ("AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD")
"""Names of context files; the first that exists in a folder is used."""

FOLLOWED = (*NAMES, LOCAL, RULES)
"""Names of all files and folders whose text is put into the prompt."""


def context_files(request: ResourceRequest) -> Iterator[ResourceFile | ResourceProblem]:
    """Yield the context files: the user's own, then those of each folder from the root to the working directory.

    A folder has one of ``NAMES`` and the files of Claude Code that belong to it (``claude_files``). They are used in
    untrusted projects, too, except for links and imports that lead out of such a project: a clone may contain one of a
    file of keys, or of ``/proc/self/environ``.
    """
    own, imported = _context_file(str(request.agent_dir)), set[str]()
    if own is not None:
        yield _file(own, "user")
        files = claude_files(str(request.agent_dir), own, lambda _path: True, imported)
        yield from (_file(path, "user") for path in files)
    folders = [str(folder) for folder in reversed((request.cwd, *request.cwd.parents))]
    found = {folder: path for folder in folders if (path := _context_file(folder)) is not None}
    repository = _repository(request.cwd)
    roots = dict.fromkeys(folders, repository)
    twice = _copied_by_worktree(request.cwd, found)
    if twice is not None and repository is not None:
        if os.path.samefile(found[repository], found[twice]):  # a link: it may be used if the main folder's own may be
            found[repository], roots[repository] = found[twice], twice
        elif not _Checked(repository, repository, trusted=request.project_trusted).may_use(found[repository]):
            twice = None
    for folder in folders:
        if folder == twice:
            continue
        checked = _Checked(folder, roots[folder] or folder, trusted=request.project_trusted)
        path = found.get(folder)
        if path is not None and checked.may_use(path):
            yield _file(path, "project")
        used = path if path is not None and not checked.refused else None
        yield from (_file(each, "project") for each in claude_files(folder, used, checked.may_use, imported))
        yield from checked.refused


class _Checked:
    """Decides which files of a folder are used.

    Args:
        folder: The folder.
        root: The repository around it.
        trusted: Whether the project is trusted.

    Attributes:
        refused: A problem for each file that is not used.
    """

    def __init__(self, folder: str, root: str, *, trusted: bool) -> None:
        self.refused: list[ResourceProblem] = []
        self._folders = (folder, root)
        self._trusted = trusted

    def may_use(self, path: str) -> bool:
        """Whether a file is used: in an untrusted project only text that is inside it."""
        if self._trusted:
            return True
        if os.path.islink(path) and escapes_root(path, *self._folders):
            self._refuse(path, "is a link out of the project, which is not trusted; it is not used")
        elif escapes_root(path, *self._folders):
            self._refuse(path, "is imported from outside the project, which is not trusted; it is not used")
        elif not path.lower().endswith(_TEXTS):
            self._refuse(path, "is imported and is not Markdown, and the project is not trusted; it is not used")
        else:
            return True
        return False

    def _refuse(self, path: str, message: str) -> None:
        self.refused.append(pi_hookspecs.ResourceProblem(path=path, message=f"{message}. Run pi trust to use it"))


_TEXTS = (".md", ".mdc", ".txt", ".rst")
"""Other files of a clone, such as ``.env``, are not put into the prompt because a file of the clone names them."""


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
    """Return the folder of the repository that a ``.git`` file belongs to; None if it is not a linked worktree."""
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

"""Finds the repository of a folder, and the names of its files, with nothing of it executed.

The work tree is the folder that contains ``.git``, whatever ``core.worktree`` of an unknown repository says.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from pi_git_kit.git import Git
from pi_git_kit.overrides import options
from pi_git_kit.starting import ForeignOwner, GitFailed, environment, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from pi_git_kit.starting import Prepare

__all__ = ["excludes_file", "file_names", "files_below", "repository_of"]

_FOREIGN = re.compile(r"(?:dubious ownership in repository at|unsafe repository \()\s*'([^\n]*)'")
"""What git says of a repository of another owner, since 2.35.3 and before that in 2.35.2."""


def repository_of(cwd: Path, *, environ: Mapping[str, str] | None = None, prepare: Prepare | None = None) -> Git:
    """Return git for the repository to whose work tree a folder belongs.

    Args:
        cwd: The folder.
        environ: The environment of pi; None for that of this process.
        prepare: Changes how git is started.

    Raises:
        ForeignOwner: The repository belongs to another user.
        GitFailed: The folder is in no work tree, or git cannot be run.
    """
    here, environ = cwd.resolve(), os.environ if environ is None else environ
    env = environment(environ, protocols="", user_settings=True)
    output = run([*options(), "rev-parse", "--absolute-git-dir", "--git-common-dir"], here, env, prepare)
    lines = os.fsdecode(output.data).splitlines()
    if output.code and (foreign := _FOREIGN.search(output.errors)):
        raise ForeignOwner(
            f"The repository {foreign[1]!r} belongs to another user, so git does not read it. If you trust its owner:"
            f" git config --global --add safe.directory {shlex.quote(foreign[1])}",
            output.code,
        )
    if output.code or len(lines) != 2:  # noqa: PLR2004 - one for each that was asked for
        raise GitFailed(f"{str(cwd)!r} is not in a git repository: {output.reason}", output.code)
    git_dir, common = Path(lines[0]), (here / lines[1]).resolve()
    top = next((folder for folder in (here, *here.parents) if _leads_to(folder / ".git", git_dir)), None)
    if top is None:
        raise GitFailed(f"{str(cwd)!r} is in a git repository, but not in any of its work trees")
    return Git(top, git_dir, common, below=here.relative_to(top), environ=environ, prepare=prepare)


def excludes_file(folder: Path, *, environ: Mapping[str, str] | None = None, prepare: Prepare | None = None) -> Path:
    """Return the user's own ignore file for a folder, which ``core.excludesFile`` names; it need not exist.

    Args:
        folder: A folder, in a repository or not.
        environ: The environment of pi; None for that of this process.
        prepare: Changes how git is started.

    Raises:
        GitFailed: git cannot be run.
    """
    environ = os.environ if environ is None else environ
    env = environment(environ, protocols="", user_settings=True)
    output = run([*options(), "config", "--type=path", "--get", "core.excludesFile"], folder, env, prepare)
    if output.code == 0:
        return folder / os.fsdecode(output.data.removesuffix(b"\n"))
    home = environ.get("HOME") or os.path.expanduser("~")  # noqa: PTH111 - Path's raises an error if there is none
    return Path(environ.get("XDG_CONFIG_HOME") or f"{home}/.config", "git", "ignore")


def file_names(git: Git, below: Path | None = None) -> Iterator[str]:
    """Yield the files that git tracks, then the untracked ones that are not ignored, relative to a folder.

    Args:
        git: The repository.
        below: The folder in the work tree; None for the one in which the caller works.

    Raises:
        GitFailed: git cannot be started.
    """
    folder = os.fspath(git.below if below is None else below)
    start = "" if folder == "." else f"{folder}/"
    previous = None
    for which in (("--cached",), ("--others", "--exclude-standard")):
        held = b""
        for chunk in git.stream("ls-files", "-z", *which, "--", folder):
            *names, held = (held + chunk).split(b"\0")
            for name in map(os.fsdecode, names):
                if name != previous:  # a file with a merge conflict is listed three times
                    yield name.removeprefix(start)
                previous = name


def files_below(folder: str, walk: Callable[[str], Iterable[str]]) -> Iterator[str]:
    """Yield the files below a folder as git lists them, which takes a fraction of a walk's time, or from a walk.

    Args:
        folder: The folder; the paths are relative to it.
        walk: Yields the files where there is no repository, or no git.
    """
    try:
        listed = file_names(repository_of(Path(folder)))
        first = next(listed, None)
    except GitFailed:
        first = None
    if first is None:
        yield from walk(folder)
        return
    yield first
    yield from listed


def _leads_to(link: Path, git_dir: Path) -> bool:
    """Whether ``.git``, a folder or a file that names one, is a git folder."""
    try:
        if link.is_file():
            text = link.read_text(encoding="utf-8", errors="surrogateescape")
            link = link.parent / text.removeprefix("gitdir:").strip()
        return link.samefile(git_dir)
    except OSError:
        return False

"""Gets repositories from elsewhere, with nothing of them executed: one commit, or a copy that shares the objects."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from pi_git_kit.git import Git
from pi_git_kit.overrides import options
from pi_git_kit.starting import GitFailed, environment, run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pi_git_kit.starting import Output

__all__ = ["clone_shared", "create_repository", "fetch_commit"]

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def create_repository(git: Git, *, bare: bool = False, sha256: bool = False) -> None:
    """Make an empty repository in the git folder of ``git``, without the user's templates.

    Raises:
        GitFailed: git cannot make it.
    """
    folder = git.git_dir if bare else git.top
    folder.mkdir(parents=True, exist_ok=True)
    kinds = (*(("--bare",) if bare else ()), *(("--object-format=sha256",) if sha256 else ()))
    env = environment(git.environ, protocols="", user_settings=git.user_settings)
    _finish(run([*options(), "init", "--quiet", "--template=", *kinds, "."], folder, env, git.prepare), folder)


def fetch_commit(folder: Path, address: str, wanted: str, environ: Mapping[str, str]) -> str:
    """Fetch one commit into a new repository, check it out, and return its id.

    The user's configuration for all repositories is obeyed: keys, credentials, other addresses of servers. Submodules
    are not fetched, nor the large files of git-lfs.

    Args:
        folder: An empty folder, which becomes the work tree.
        address: The address of the repository.
        wanted: A commit, branch, tag or ``HEAD``.
        environ: The environment of pi.

    Raises:
        GitFailed: It cannot be fetched.
    """
    git = Git(
        folder,
        folder / ".git",
        folder / ".git",
        own=True,
        protocols=None,
        variables={"GIT_LFS_SKIP_SMUDGE": "1"},
        environ=environ,
    )
    create_repository(git)
    try:
        git("fetch", "--quiet", "--depth=1", "--no-tags", "--", address, wanted)
    except GitFailed:  # some servers do not serve a commit by its name
        if not _COMMIT.fullmatch(wanted):
            raise
        git("fetch", "--quiet", "--", address)
        git("update-ref", "FETCH_HEAD", wanted)
    found = git("rev-parse", "FETCH_HEAD^{commit}")
    git("checkout", "--quiet", "--force", found)
    return found


def clone_shared(source: Git, top: Path, commit: str) -> Git:
    """Copy a repository without its remote, sharing its objects, check out a commit, and return git for the copy.

    Raises:
        GitFailed: There is no such commit, or git cannot make the copy.
    """
    found = source("rev-parse", "--verify", "--end-of-options", f"{commit}^{{commit}}")
    top.parent.mkdir(parents=True, exist_ok=True)
    copy = Git(top, top / ".git", top / ".git", environ=source.environ, prepare=source.prepare)
    env = environment(source.environ, protocols="file", user_settings=True)
    kinds = ("--quiet", "--template=", "--shared", "--no-checkout")
    output = run([*options(), "clone", *kinds, "--", os.fspath(source.top), top.name], top.parent, env, copy.prepare)
    _finish(output, source.top)
    copy("remote", "remove", "origin")
    copy("checkout", "--quiet", "--detach", found)
    return copy


def _finish(output: Output, folder: Path) -> None:
    if output.code:
        raise GitFailed(f"git failed in {str(folder)!r}: {output.reason}", output.code)

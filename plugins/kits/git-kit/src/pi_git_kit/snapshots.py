"""Trees of the files in a folder, made without touching the user's index.

``git add --all`` would start a git in every nested repository, which obeys that repository's configuration. Here git
lists what has changed and puts it into a temporary index, which looks at nested repositories only for their commit.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager, suppress
from secrets import token_hex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_git_kit.git import Git

__all__ = ["snapshot", "stage_all", "tree_of_files"]


@contextmanager
def snapshot(git: Git) -> Iterator[tuple[str, Git]]:
    """Yield the tree of the folder's files, without ignored files, and git with a temporary index that contains it.

    Raises:
        GitFailed: A file cannot be read, or git cannot be run.
    """
    index = git.git_dir / f"pi-index-{os.getpid()}-{token_hex(4)}"
    temporary = git.with_(index=index)
    try:
        with suppress(FileNotFoundError):
            shutil.copyfile(git.index or git.git_dir / "index", index)
        stage_all(temporary)
        yield temporary("write-tree"), temporary
    finally:
        index.unlink(missing_ok=True)
        index.with_name(f"{index.name}.lock").unlink(missing_ok=True)


def tree_of_files(git: Git) -> str:
    """Return the tree of the folder's files, without ignored files.

    Raises:
        GitFailed: A file cannot be read, or git cannot be run.
    """
    with snapshot(git) as (tree, _):
        return tree


def stage_all(git: Git) -> None:
    """Bring the index up to date with the files of the work tree, as ``git add --all`` does.

    Raises:
        GitFailed: A file cannot be read, or git cannot be run.
    """
    changed = git.names("diff-files", "-z", "--name-only")
    others = git.names("ls-files", "-z", "--others", "--exclude-standard")
    files = [*changed, *(name for name in others if not name.endswith("/"))]
    if files:
        data = b"".join(os.fsencode(name) + b"\0" for name in dict.fromkeys(files))
        git.read("update-index", "-z", "--add", "--remove", "--replace", "--stdin", data=data)
    for name in others:
        if name.endswith("/"):  # a repository in the work tree; one without a commit has no state to record
            git.attempt("update-index", "--add", "--replace", "--", name.rstrip("/"))

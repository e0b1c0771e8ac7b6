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

from pi_git_kit.objects import resolve
from pi_git_kit.starting import GitFailed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pi_git_kit.git import Git

__all__ = [
    "commit_of_files",
    "copy_index",
    "flagged_files",
    "is_sparse",
    "read_tree",
    "snapshot",
    "stage_all",
    "tree_of_files",
    "unflag",
]


@contextmanager
def snapshot(git: Git, *, flagged: bool = False) -> Iterator[tuple[str, Git]]:
    """Yield the tree of the folder's files, without ignored files, and git with a temporary index that contains it.

    Args:
        git: The repository.
        flagged: Whether to look also at files that the index says to overlook (``git update-index --skip-worktree``,
            ``--assume-unchanged``).

    Raises:
        GitFailed: A file cannot be read, or git cannot be run.
    """
    index = git.git_dir / f"pi-index-{os.getpid()}-{token_hex(4)}"
    temporary = git.with_(index=index)
    try:
        with suppress(FileNotFoundError):
            copy_index(git.index or git.git_dir / "index", index)
        if flagged:
            unflag(temporary)
        stage_all(temporary)
        yield temporary("write-tree"), temporary
    finally:
        index.unlink(missing_ok=True)
        index.with_name(f"{index.name}.lock").unlink(missing_ok=True)


def tree_of_files(git: Git, *, flagged: bool = False) -> str:
    """Return the tree of the folder's files, without ignored files; the arguments are those of ``snapshot``.

    Raises:
        GitFailed: A file cannot be read, or git cannot be run.
    """
    with snapshot(git, flagged=flagged) as (tree, _):
        return tree


def copy_index(source: Path, target: Path) -> None:
    """Copy an index with its time, by which git knows which of its entries may be too young to be trusted.

    Raises:
        OSError: It cannot be read or written.
    """
    shutil.copyfile(source, target)
    found = source.stat()
    os.utime(target, ns=(found.st_atime_ns, found.st_mtime_ns))


def commit_of_files(git: Git) -> str:
    """Return a commit of the folder's files: HEAD, or a new commit on top of it with the uncommitted changes.

    Raises:
        GitFailed: A file cannot be read, or git cannot be run.
    """
    head, tree = resolve(git, "HEAD"), tree_of_files(git)
    if head is not None and tree == resolve(git, "HEAD^{tree}"):
        return head
    parents = ["-p", head] if head is not None else []
    return git("commit-tree", tree, *parents, "-m", "Uncommitted changes, when the agent began")


def read_tree(git: Git, tree: str) -> None:
    """Bring the index to a tree; files that a sparse checkout leaves out of the work tree stay left out.

    Raises:
        GitFailed: git cannot be run, or there is no such tree.
    """
    skipped = []
    with suppress(GitFailed):  # an index that cannot be read is replaced
        skipped = [name for name in flagged_files(git)[1] if not os.path.lexists(git.top / name)]
    git("read-tree", tree)
    _flag(git, "--skip-worktree", set(skipped).intersection(git.names("ls-files", "-z")) if skipped else ())


def is_sparse(git: Git) -> bool:
    """Whether a sparse checkout leaves files of the index out of the work tree."""
    return git.attempt("config", "core.sparseCheckout").data.strip(b"\0\n").lower() == b"true"


def flagged_files(git: Git) -> tuple[list[str], list[str]]:
    """Return the files of the index that git assumes to be unchanged, and those that it skips in the work tree.

    Raises:
        GitFailed: The index cannot be read.
    """
    assumed, skipped = [], []
    others = (entry for entry in git.names("ls-files", "-v", "-z") if entry[0] != "H")
    for tag, name in ((entry[0], entry[2:]) for entry in others):
        if tag.islower():
            assumed.append(name)
        if tag in "Ss":
            skipped.append(name)
    return assumed, skipped


def unflag(git: Git) -> None:
    """Let git look at all files that the index says to overlook, but for absent ones that a sparse checkout leaves out.

    Raises:
        GitFailed: The index cannot be read.
    """
    assumed, skipped = flagged_files(git)
    if skipped and is_sparse(git):
        skipped = [name for name in skipped if os.path.lexists(git.top / name)]
    _flag(git, "--no-assume-unchanged", assumed)
    _flag(git, "--no-skip-worktree", skipped)


def _flag(git: Git, option: str, names: Iterable[str]) -> None:
    if data := b"".join(os.fsencode(name) + b"\0" for name in names):
        git.read("update-index", "-z", option, "--stdin", data=data)


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

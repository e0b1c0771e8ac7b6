"""Patches: shows and applies changes, and merges two trees without touching any file.

A merge compares trees in a temporary index and merges the lines of what both sides have changed. It therefore runs no
merge driver, and names every file that conflicts: changed lines, additions, deletions, modes, kinds and binary files.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from pi_git_kit.objects import read_objects

if TYPE_CHECKING:
    from pi_git_kit.git import Git

__all__ = ["Change", "apply_patch", "diff_stat", "merge_trees", "patch_between", "tree_changes"]

_PLAIN = ("100644", "100755")


def diff_stat(git: Git, old: str, new: str) -> str:
    """Return the differences of two trees in the format of ``git diff --stat``; empty if there are none.

    Raises:
        GitFailed: There are no such trees.
    """
    return git("diff", "--stat=80", old, new)


def patch_between(git: Git, old: str, new: str) -> bytes:
    """Return the differences of two trees as a patch, binary files included; empty if there are none.

    Raises:
        GitFailed: There are no such trees.
    """
    return git.read("diff", "--binary", "--full-index", "--no-color", old, new)


@frozen
class Change:
    """A path that differs between two trees.

    Attributes:
        path: The path.
        old: Its mode in the one tree, such as ``100644``; ``000000`` if it has none.
        new: Its mode in the other.
        blob: Its object in the one tree.
    """

    path: str
    old: str
    new: str
    blob: str


def tree_changes(git: Git, old: str, new: str) -> list[Change]:
    """Return the paths that differ between two trees; a renamed file is two of them.

    Raises:
        GitFailed: There are no such trees.
    """
    parts = iter(git.names("diff-tree", "-r", "-z", "--no-renames", "--full-index", old, new))
    found = []
    for facts, path in zip(parts, parts, strict=True):
        before, after, blob, *_ = facts.removeprefix(":").split(" ")
        found.append(Change(path, before, after, blob))
    return found


def apply_patch(git: Git, patch: bytes, *, check: bool = False) -> None:
    """Write the changes of a patch to the files of the work tree.

    Args:
        git: The repository.
        patch: The patch.
        check: Only whether they can be written.

    Raises:
        GitFailed: A file differs from what the patch begins with; nothing is written.
    """
    if patch:
        words = ("--check",) if check else ()
        git.read("apply", "--whitespace=nowarn", *words, "-", data=patch)


def merge_trees(git: Git, base: str, mine: str, theirs: str) -> tuple[str | None, list[str]]:
    """Merge the changes from a base to one tree with those from the base to another.

    Returns:
        The merged tree, and no names; or None and the names of the files that conflict, sorted.

    Raises:
        GitFailed: There are no such trees.
    """
    with tempfile.TemporaryDirectory(prefix="pi-merge-") as folder:
        git = git.with_(index=Path(folder) / "index")
        git("read-tree", "-i", "-m", "--aggressive", base, mine, theirs)
        conflicts = []
        for name, stages in _unmerged(git).items():
            if not _merge_file(git, name, stages, Path(folder)):
                conflicts.append(name)
        return (None, sorted(conflicts)) if conflicts else (git("write-tree"), [])


def _unmerged(git: Git) -> dict[str, dict[int, tuple[str, str]]]:
    """Return mode and object of each side of the files that the trees alone do not decide."""
    found: dict[str, dict[int, tuple[str, str]]] = {}
    for entry in git.names("ls-files", "--unmerged", "-z"):
        facts, _, name = entry.partition("\t")
        mode, blob, stage = facts.split(" ")
        found.setdefault(name, {})[int(stage)] = mode, blob
    return found


def _merge_file(git: Git, name: str, stages: dict[int, tuple[str, str]], folder: Path) -> bool:
    """Merge the lines of a file that both sides changed into the index; return whether that is possible."""
    if set(stages) != {1, 2, 3} or any(mode not in _PLAIN for mode, _ in stages.values()):
        return False
    (old, _), (mine, _), (theirs, _) = (stages[number] for number in (1, 2, 3))
    if mine not in (old, theirs) and theirs != old:
        return False
    contents = read_objects(git, [blob for _, blob in stages.values()])
    paths = [folder / part for part in ("mine", "base", "theirs")]
    for path, number in zip(paths, (2, 1, 3), strict=True):
        path.write_bytes(contents[stages[number][1]])
    output = git.attempt("merge-file", "--stdout", "--quiet", *map(os.fspath, paths))
    if output.code:
        return False
    blob = git("hash-object", "-w", "--stdin", "--no-filters", data=output.data)
    mode = theirs if mine == old else mine
    git("update-index", "--add", "--cacheinfo", f"{mode},{blob},{name}")
    return True

"""Repositories within a repository, submodules above all: their files in a worktree, as parts of it.

``git worktree add`` leaves their folders empty. Here they get the files, but no git folder: what is changed in them is
compared with the commit with which the part began, and goes back into the user's own nested repository.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from attrs import frozen

from pi_git_kit.objects import resolve
from pi_git_kit.repository import repository_of
from pi_git_kit.snapshots import commit_of_files
from pi_git_kit.standing import FIRST_INDEX, links_of_tree
from pi_git_kit.starting import GitFailed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pi_git_kit.git import Git

__all__ = ["Part", "add_parts", "forget_parts", "parts_of"]

_LIST = "pi-parts.json"
"""Lists the parts of a worktree, in its git folder."""


@frozen
class Part:
    """One repository of a worktree: the worktree's own, or one within it.

    Attributes:
        path: Its folder, relative to the top of the worktree; empty for the worktree itself.
        mine: git for the user's files.
        inside: git for the files in the worktree.
        base: The commit with which it began.
        first: Its index as it was then.
        apart: The folders of other parts within it, relative to its own.
    """

    path: str
    mine: Git
    inside: Git
    base: str
    first: Path
    apart: tuple[str, ...] = ()


def add_parts(git: Git, inside: Git, base: str, ref: str, *, committed: bool = False) -> dict[str, str]:
    """Bring the files of nested repositories into a new worktree.

    Args:
        git: git for the user's files.
        inside: git for the worktree.
        base: The commit with which the worktree begins.
        ref: The name of a reference, which protects the commits with which they begin in their repositories.
        committed: Whether they begin at the commits that ``base`` names; otherwise with the user's files as they are.

    Returns:
        Why repositories could not be brought, by their folders.
    """
    rows: list[dict[str, str]] = []
    failed: dict[str, str] = {}
    for path, source, commit in _nested(git, base, failed, committed=committed):
        index = inside.git_dir / f"pi-part-{len(rows)}"
        part = source.with_(top=inside.top / path, index=index)
        try:
            part.top.mkdir(parents=True, exist_ok=True)
            source("update-ref", ref, commit)
            part("read-tree", commit)
            part("checkout-index", "--all", "--force", "--index", "--quiet")
        except (OSError, GitFailed) as error:
            failed[path] = str(error)
        rows.append({"path": path, "base": commit})
    if rows:
        (inside.git_dir / _LIST).write_text(json.dumps(rows), encoding="utf-8")
    return failed


def parts_of(git: Git, inside: Git, base: str) -> list[Part]:
    """Return the worktree as a part, followed by the nested repositories that it has."""
    rows = _read(inside.git_dir / _LIST)
    paths = [path for path, _ in rows]
    parts = [Part("", git, inside, base, inside.git_dir / FIRST_INDEX, tuple(paths))]
    for number, (path, commit) in enumerate(rows):
        try:
            source = _repository(git, git.top / path)
        except GitFailed:
            source = None
        if source is not None:
            index = inside.git_dir / f"pi-part-{number}"
            within = tuple(each.removeprefix(f"{path}/") for each in paths if each.startswith(f"{path}/"))
            nested = source.with_(top=inside.top / path, index=index)
            parts.append(Part(path, source, nested, commit, index, within))
    return parts


def forget_parts(parts: list[Part], ref: str) -> None:
    """Remove the references that protect the commits with which nested repositories began."""
    for part in parts:
        if part.path:
            part.mine.attempt("update-ref", "-d", ref)


def _nested(
    git: Git, base: str, failed: dict[str, str], below: str = "", *, committed: bool
) -> Iterator[tuple[str, Git, str]]:
    """Yield folder, git and commit of the repositories within one, and of those within these."""
    links = links_of_tree(git, base)
    others = [] if committed else git.names("ls-files", "-z", "--others", "--exclude-standard")
    for name in dict.fromkeys([*links, *(each.rstrip("/") for each in others if each.endswith("/"))]):
        path = f"{below}{name}"
        try:
            source = _repository(git, git.top / name)
            if source is None:  # the user has not fetched it, either
                continue
            commit = links[name] if committed else commit_of_files(source)
            if resolve(source, f"{commit}^{{commit}}") is None:
                failed[path] = f"your copy does not have the commit {commit}"
                continue
        except GitFailed as error:
            failed[path] = str(error)
            continue
        yield path, source, commit
        yield from _nested(source, commit, failed, f"{path}/", committed=committed)


def _repository(git: Git, folder: Path) -> Git | None:
    """Return git for the repository whose top a folder is; None if it is none.

    Raises:
        GitFailed: git does not read it.
    """
    if folder.is_symlink() or not os.path.lexists(folder / ".git"):
        return None
    found = repository_of(folder, environ=git.environ, prepare=git.prepare).with_(variables=git.variables)
    return found if found.top == folder else None


def _read(file: Path) -> list[tuple[str, str]]:
    try:
        rows = json.loads(file.read_text(encoding="utf-8"))
        return [(row["path"], row["base"]) for row in rows]
    except (OSError, ValueError, TypeError, KeyError):
        return []

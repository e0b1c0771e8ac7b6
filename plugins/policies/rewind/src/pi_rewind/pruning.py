"""Deletes checkpoints after 14 days, and the oldest ones of a store that is too large; once a day for each store."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from pi_rewind.seed import INDEX

if TYPE_CHECKING:
    from pathlib import Path

    from pi_rewind.git import Git

__all__ = ["prune"]

KEPT_SECONDS = 14 * 86_400
KEPT_BYTES = 2_000_000_000
_EVERY = 86_400
_MARK = "pruned"
_GRACE = "1.hour.ago"
"""Objects younger than this stay: another session may be about to name them."""


def prune(git: Git, now: float | None = None) -> None:
    """Remove checkpoints that are too old or too many, at most once a day.

    Raises:
        GitFailed: git failed.
    """
    now = time.time() if now is None else now
    mark = git.store / _MARK
    if mark.exists() and now - mark.stat().st_mtime < _EVERY:
        return
    mark.touch()
    os.utime(mark, (now, now))
    kept = _references(git)
    old = [name for name, made in kept if now - made > KEPT_SECONDS]
    if old:
        _delete(git, old)
        git("prune", f"--expire={_GRACE}")
    kept = [each for each in kept if each[0] not in old]
    while len(times := sorted({made for _, made in kept})) > 1 and _size(git.store / "objects") > KEPT_BYTES:
        oldest = times[len(times) // 2]  # what belongs to one checkpoint has one time
        _delete(git, [name for name, made in kept if made < oldest])
        kept = [each for each in kept if each[1] >= oldest]
        git("prune", f"--expire={_GRACE}")
    _remove_indexes(git, {name.split("/")[2] for name, _ in kept}, now)


def _remove_indexes(git: Git, sessions: set[str], now: float) -> None:
    """Remove the indexes of sessions without a checkpoint: their objects may be gone; and those of version 1.0."""
    for index in (*git.store.glob(f"{INDEX}*"), *git.store.glob("index-*")):
        is_kept = index.name.startswith(INDEX) and index.name.removeprefix(INDEX).partition(".")[0] in sessions
        if index.name.partition(".")[0] != git.index.name and not is_kept and now - index.stat().st_mtime > _EVERY:
            index.unlink(missing_ok=True)


def _references(git: Git) -> list[tuple[str, float]]:
    """Return the checkpoints with the time in their names, oldest first."""
    names = git("for-each-ref", "--format=%(refname)", "refs/rewind/").decode().split()
    found = [(name, float(name.rpartition("/")[2].partition("-")[0])) for name in names]
    return sorted(found, key=lambda each: each[1])


def _delete(git: Git, names: list[str]) -> None:
    git("update-ref", "--stdin", data="".join(f"delete {name}\n" for name in names).encode())


def _size(folder: Path) -> int:
    return sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())

"""Dropped worktrees: folder, branch, index and commits are put aside, and can come back for a while.

The trash of a repository is beside its worktrees, in ``.trash``, so that a dropped folder is renamed and not copied.
References ``refs/pi/trash/NAME/...`` keep its commits from ``git gc``.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from attrs import frozen

from pi_agents.kept import Kept, commits_of, inside_of
from pi_core import save_file, worktree_folder
from pi_git_kit import parts_of, remove_worktree, resolve, worktree_lock
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_agents.settings import TrashLimits
    from pi_git_kit import Git

__all__ = ["Dropped", "drop", "dropped_worktrees", "empty_trash", "undo_drop"]

_FOLDER = ".trash"
_REFS = "refs/pi/trash/"
_ABOUT = "about.json"
_DAY = 24 * 60 * 60
_MEGABYTE = 1_000_000
_SECRETS = (".env", ".env.*", ".envrc", ".netrc", "*.pem", "*.key", "id_rsa", "id_ed25519", "credentials.json")
_HARMLESS = (".env.example", ".env.sample", ".env.template", ".env.dist")
_MOST_COMMITS = 100


@frozen
class Dropped:
    """A worktree in the trash.

    Attributes:
        kept: The worktree as it was.
        folder: Its folder in the trash.
        time: When it was dropped, in seconds since 1970.
        size: Bytes of its files.
        secrets: Files in it whose names say that they have secrets, relative to its top.
        about: What is needed to bring it back.
    """

    kept: Kept
    folder: Path
    time: float
    size: int
    secrets: tuple[str, ...]
    about: dict[str, Any]

    def row(self) -> str:
        """Return one line about it."""
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.time))
        return f"{self.kept.id}  {when}  {self.size / _MEGABYTE:.1f} MB  {self.folder}"


def drop(git: Git, kept: Kept, limits: TrashLimits) -> Dropped | None:
    """Put a worktree, its branch and its changes into the trash; None if the limits allow no trash.

    Raises:
        UserError: It cannot be moved; it is still there.
    """
    inside = inside_of(git, kept)
    refs = [part.mine for part in parts_of(git, inside, kept.base)[1:]]
    if not limits.is_used:
        remove_worktree(git, kept.path)
        if kept.path.exists():  # a folder whose record in the repository is lost
            shutil.rmtree(kept.path)
        with worktree_lock(git):
            _forget(git, kept, refs)
        return None
    name = f"{kept.id}-{token_hex(4)}"
    worktrees = worktree_folder(kept.path.parents[2], git.top)
    folder = worktrees / _FOLDER / name
    with worktree_lock(git):
        about = _write_about(git, inside, kept, folder, refs)
        try:
            kept.path.rename(folder / "files")
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            _forget_refs(git, name, refs)
            raise UserError(f"{kept.path} cannot be moved to {folder}: {error.strerror or error}") from error
        if inside.index is None:
            shutil.move(inside.git_dir, folder / "git")  # perhaps on another filesystem
        _forget(git, kept, refs)
    found = _read(folder)
    assert found is not None, about  # noqa: S101 - it was just written
    tidy(git, worktrees, limits, but=name)
    return found


def undo_drop(git: Git, agent_dir: Path, wanted: str = "") -> Kept:
    """Bring a dropped worktree back, with its branch, and return it.

    Args:
        git: The repository.
        agent_dir: pi's folder.
        wanted: Its id; empty for the one that was dropped last.

    Raises:
        UserError: There is none of this id, or something is in its place; nothing is changed.
    """
    found = dropped_worktrees(git, agent_dir)
    chosen = next((each for each in found if wanted in ("", each.kept.id)), None)
    if chosen is None:
        known = ", ".join(each.kept.id for each in found) or "nothing"
        raise UserError(
            f"{f'There is no dropped worktree {wanted!r}' if wanted else 'No worktree was dropped'} of {git.top}."
            f" The trash has: {known}"
        )
    kept, about, name = chosen.kept, chosen.about, chosen.folder.name
    with worktree_lock(git):
        git_dir = Path(about["git_dir"]) if about["git_dir"] else None
        for path in (kept.path, *((git_dir,) if git_dir else ())):
            if os.path.lexists(path) and not _was_interrupted(chosen, path):
                raise UserError(f"{path} exists: the dropped worktree {kept.id} cannot come back there. Move it away")
        tip = resolve(git, f"refs/heads/{kept.branch}")
        if tip is not None and tip != about["branch"]:
            raise UserError(
                f"There is a branch {kept.branch} with other commits. Rename it: git branch -m {kept.branch} NAME"
            )
        if about["branch"]:
            git("update-ref", f"refs/heads/{kept.branch}", about["branch"])
        git("update-ref", kept.ref, kept.base)
        kept.path.parent.mkdir(parents=True, exist_ok=True)
        for row in about["parts"]:
            _sub(git, row["git_dir"]).attempt("update-ref", kept.ref, row["base"])
        if git_dir and (chosen.folder / "git").exists():
            git_dir.parent.mkdir(exist_ok=True)
            shutil.move(chosen.folder / "git", git_dir)
        if (chosen.folder / "files").exists():
            (chosen.folder / "files").rename(kept.path)
        _forget_refs(git, name, [_sub(git, row["git_dir"]) for row in about["parts"]])
    shutil.rmtree(chosen.folder, ignore_errors=True)
    return kept


def dropped_worktrees(git: Git, agent_dir: Path) -> list[Dropped]:
    """Return what is in the trash of a repository, the newest first."""
    return _all(worktree_folder(agent_dir, git.top))


def empty_trash(git: Git, agent_dir: Path) -> list[Dropped]:
    """Remove everything in the trash of a repository for good, and return what it was."""
    found = dropped_worktrees(git, agent_dir)
    for each in found:
        _remove(git, each)
    return found


def tidy(git: Git, worktrees: Path, limits: TrashLimits, *, but: str = "") -> None:
    """Remove what is too old from the trash of a repository, and the oldest of what is too large together.

    Args:
        git: The repository.
        worktrees: The folder of its worktrees.
        limits: The limits.
        but: The name of a folder in the trash that stays in any case.
    """
    oldest = time.time() - limits.days * _DAY
    used = 0
    for each in _all(worktrees):
        used += each.size
        if each.folder.name != but and (each.time < oldest or used > limits.megabytes * _MEGABYTE):
            _remove(git, each)


def _all(worktrees: Path) -> list[Dropped]:
    folder = worktrees / _FOLDER
    found = [_read(each) for each in folder.iterdir()] if folder.is_dir() else []
    return sorted(filter(None, found), key=lambda each: -each.time)


def _read(folder: Path) -> Dropped | None:
    try:
        about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
        kept = Kept(about["id"], Path(about["path"]), about["base"])
        return Dropped(kept, folder, about["time"], about["size"], tuple(about["secrets"]), about)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _write_about(git: Git, inside: Git, kept: Kept, folder: Path, sources: Sequence[Git]) -> dict[str, Any]:
    """Protect the commits of a worktree, and write down what is needed to bring it back."""
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.parent.chmod(0o700)
    folder.mkdir(mode=0o700)
    branch = resolve(git, f"refs/heads/{kept.branch}")
    staged = inside.attempt("write-tree") if inside.index is None else None
    tree = staged.data.decode().strip() if staged is not None and not staged.code else None
    objects = [branch, kept.base, tree, resolve(inside, "HEAD") if inside.index is None else None]
    objects += [*commits_of(inside)[:_MOST_COMMITS], *_heads_below(git, kept.path)] if inside.index is None else []
    for number, name in enumerate(dict.fromkeys(filter(None, objects))):
        git.attempt("update-ref", f"{_REFS}{folder.name}/{number}", name)
    parts = []
    for source in sources:
        base = resolve(source, kept.ref)
        if base is not None:
            source.attempt("update-ref", f"{_REFS}{folder.name}/0", base)
            parts.append({"git_dir": str(source.git_dir), "base": base})
    size, secrets = _measure(kept.path)
    about = {
        "id": kept.id,
        "path": str(kept.path),
        "base": kept.base,
        "branch": branch,
        "git_dir": str(inside.git_dir) if inside.index is None else None,
        "parts": parts,
        "time": time.time(),
        "size": size,
        "secrets": secrets,
    }
    save_file(folder / _ABOUT, json.dumps(about).encode())
    return about


def _heads_below(git: Git, top: Path) -> Iterator[str | None]:
    """Yield the commits that are checked out in worktrees within a worktree."""
    for entry in (git.common / "worktrees").glob("*/gitdir"):
        with suppress(OSError):
            place = Path(entry.read_text(encoding="utf-8", errors="surrogateescape").strip()).parent
            if place != top and place.is_relative_to(top):
                yield resolve(git.with_(git_dir=entry.parent), "HEAD")


def _measure(top: Path) -> tuple[int, list[str]]:
    """Return the bytes of a folder's files, and the files whose names say that they have secrets."""
    size, secrets = 0, []
    for here, _, names in os.walk(top):
        for name in names:
            path = Path(here, name)
            with suppress(OSError):
                size += path.lstat().st_size
            lowered = name.lower()
            if any(fnmatchcase(lowered, each) for each in _SECRETS) and lowered not in _HARMLESS:
                secrets.append(path.relative_to(top).as_posix())
    return size, sorted(secrets)


def _was_interrupted(dropped: Dropped, path: Path) -> bool:
    """Whether a path is there because moving it to the trash, or back, was interrupted."""
    part = "files" if path == dropped.kept.path else "git"
    return not (dropped.folder / part).exists()


def _sub(git: Git, git_dir: str) -> Git:
    return git.with_(top=Path(git_dir), git_dir=Path(git_dir), common=Path(git_dir), below=Path())


def _forget(git: Git, kept: Kept, sources: Sequence[Git]) -> None:
    git.attempt("branch", "-D", kept.branch)
    for each in (git, *sources):
        each.attempt("update-ref", "-d", kept.ref)


def _forget_refs(git: Git, name: str, sources: Sequence[Git]) -> None:
    for each in (git, *sources):
        if each.top.is_dir():
            listed = each.attempt("for-each-ref", "--format=%(refname)", f"{_REFS}{name}/")
            for ref in listed.data.decode().split():
                each.attempt("update-ref", "-d", ref)


def _remove(git: Git, dropped: Dropped) -> None:
    _make_removable(dropped.folder)
    shutil.rmtree(dropped.folder, ignore_errors=True)
    if not dropped.folder.exists():
        parts = [_sub(git, row["git_dir"]) for row in dropped.about["parts"]]
        _forget_refs(git, dropped.folder.name, parts)


def _make_removable(top: Path) -> None:
    """Let the owner remove what is in folders without permissions, such as the module cache of Go."""
    for here, folders, _ in os.walk(top):
        for each in folders:
            path = Path(here, each)
            if not path.is_symlink():
                with suppress(OSError):
                    path.chmod(0o700)

"""Brings what no tree of git holds from a worktree into the user's files, and never over anything of theirs.

Ignored files, repositories, empty folders, permissions and line endings are compared and brought one by one. What is in
the way of one stays, and is named with the reason; the worktree keeps the agent's.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from pi_git_kit import git_folder_of, resolve, written_by_git

if TYPE_CHECKING:
    from collections.abc import Collection

    from pi_git_kit import Extra, Part

__all__ = ["bring", "hindrance", "is_there"]

_NEVER = {
    "linked": "its git folder is elsewhere",
    "own": "it stands in place of the worktree's link to your repository",
    "other": "it is neither file nor folder, or cannot be read",
}
_NOT_YOURS = "your file differs"
_CHUNK = 1 << 20


def is_there(extra: Extra, part: Part) -> bool:
    """Whether the user's files have it already."""
    theirs, mine = part.inside.top / extra.path, part.mine.top / extra.path
    if _link_above(part.mine.top, extra.path):
        return False
    match extra.kind:
        case "folder":
            return mine.is_dir() and not mine.is_symlink()
        case "mode":
            return _mode(theirs) == _mode(mine)
        case "file" | "bytes" | "repository":
            return os.path.lexists(mine) and _is_same(theirs, mine)
        case _:
            return False


def hindrance(extra: Extra, part: Part, going: Collection[str] = ()) -> str:
    """Return why something cannot be brought; empty if it can.

    Args:
        extra: What it is.
        part: Where it is.
        going: Paths of the user's files that are written or removed before.
    """
    mine = part.mine.top / extra.path
    if extra.kind in _NEVER:
        return _NEVER[extra.kind]
    if above := _link_above(part.mine.top, extra.path, going):
        return f"your {above} is in the way"
    if extra.path in going or not os.path.lexists(mine):
        return "" if extra.kind != "bytes" else _NOT_YOURS
    kind = _kind(mine)
    is_free = {
        "folder": kind == "folder",
        "mode": kind != "link",
        "bytes": kind == "file" and _is_as_begun(extra, part),
        "repository": kind == "folder" and not any(mine.iterdir()),
    }.get(extra.kind, False)
    return "" if is_free else _NOT_YOURS if extra.kind == "bytes" else f"you have a {kind} of this name"


def _is_as_begun(extra: Extra, part: Part) -> bool:
    """Whether the user's file is still the one with which the worktree began."""
    begun = resolve(part.inside, f"{part.base}:{extra.path}")
    mine = part.mine.top / extra.path
    return begun is not None and mine.read_bytes() == written_by_git(part.mine, extra.path, begun)


def bring(extra: Extra, part: Part) -> None:
    """Bring something into the user's files.

    Raises:
        OSError: It cannot be read or written.
    """
    theirs, mine = part.inside.top / extra.path, part.mine.top / extra.path
    if extra.kind == "mode":
        mine.chmod(_mode(theirs))
        return
    mine.parent.mkdir(parents=True, exist_ok=True)
    match extra.kind:
        case "folder":
            mine.mkdir(exist_ok=True)
        case "file":
            _copy_new(theirs, mine)
        case "bytes":
            mine.write_bytes(theirs.read_bytes())
        case _:
            _copy_repository(theirs, mine, Path(part.inside.git_dir))


def _link_above(top: Path, path: str, going: Collection[str] = ()) -> str:
    """Return the first of the folders above a path that is none: a link or a file; empty if there is none."""
    parts = path.split("/")[:-1]
    for number in range(len(parts)):
        name = "/".join(parts[: number + 1])
        if name not in going and os.path.lexists(top / name) and _kind(top / name) != "folder":
            return name
    return ""


def _kind(path: Path) -> str:
    return "link" if path.is_symlink() else "folder" if path.is_dir() else "file"


def _mode(path: Path) -> int:
    try:
        return stat.S_IMODE(path.lstat().st_mode) & 0o777
    except OSError:
        return -1


def _is_same(theirs: Path, mine: Path) -> bool:
    """Whether two files, links or folders are the same, but for the index of a repository, which git refreshes."""
    kind = _kind(theirs)
    try:
        if kind != _kind(mine):
            return False
        if kind == "link":
            return theirs.readlink() == mine.readlink()
        if kind == "file":
            return _same_bytes(theirs, mine)
        names = {each.name for each in theirs.iterdir()}
        if names != {each.name for each in mine.iterdir()}:
            return False
        skipped = {"index"} if theirs.name == ".git" else set()
        return all(_is_same(theirs / name, mine / name) for name in names - skipped)
    except OSError:
        return False


def _same_bytes(one: Path, other: Path) -> bool:
    if one.stat().st_size != other.stat().st_size:
        return False
    with one.open("rb") as left, other.open("rb") as right:
        while chunk := left.read(_CHUNK):
            if chunk != right.read(_CHUNK):
                return False
    return True


def _copy_new(theirs: Path, mine: Path) -> None:
    """Copy a file or link to a place where nothing is."""
    if theirs.is_symlink():
        mine.symlink_to(theirs.readlink())
        return
    with theirs.open("rb") as source, mine.open("xb") as target:
        try:
            shutil.copyfileobj(source, target, _CHUNK)
        except BaseException:
            mine.unlink()
            raise
    shutil.copymode(theirs, mine)


def _copy_repository(theirs: Path, mine: Path, git_dir: Path) -> None:
    """Copy a repository, or a git folder alone; a git folder within that of the worktree becomes its own."""
    new = mine.with_name(f".pi-{token_hex(4)}")
    try:
        if theirs.is_dir():
            shutil.copytree(theirs, new, symlinks=True, ignore=_no_content)
        link = new / ".git" if theirs.name != ".git" else new
        found = git_folder_of(theirs if theirs.name == ".git" else theirs / ".git")
        if found is not None and found.is_relative_to(git_dir.resolve()):
            link.unlink(missing_ok=True)
            shutil.copytree(found, link, symlinks=True, ignore=_no_content)
            _forget_work_tree(link / "config")
        with suppress(OSError):  # an empty folder in its place
            mine.rmdir()
        new.rename(mine)
    except shutil.Error as error:
        raise OSError(str(error.args[0][0][2] if error.args[0] else error)) from error
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _forget_work_tree(config: Path) -> None:
    text = config.read_text(encoding="utf-8", errors="surrogateescape")
    config.write_text(re.sub(r"(?m)^\s*worktree\s*=.*\n", "", text), encoding="utf-8", errors="surrogateescape")


def _no_content(folder: str, names: list[str]) -> list[str]:
    """Return the names of sockets, pipes and devices, which are not copied."""
    paths = ((name, Path(folder, name)) for name in names)
    return [name for name, path in paths if not (path.is_symlink() or path.is_dir() or path.is_file())]

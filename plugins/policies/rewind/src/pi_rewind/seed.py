"""Finds an index to begin a session with, so that unchanged files are neither read nor stored again.

The best one is another session's: its entries have the content of the files, and the permissions are known. Without
one, the user's own index is copied. git trusts an entry if size and time of the file are those in it, but its content
may differ from the file all the same: a filter, a line ending or an encoding was converted when the file was added.
Such entries are made to be examined again. What gives them away is the size, except with filters and encodings, which
could preserve it.
"""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

from attrs import field, frozen

from pi_core import replace_file
from pi_rewind.git import GitFailed, ask_repository

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pi_rewind.git import Git, Runner

__all__ = ["INDEX", "Seed", "excludes_of", "note_state", "seed", "tracked_by"]

INDEX = "files-"
"""Begin of the names of indexes. Those of version 1.0, ``index-...``, may contain converted files."""
_MOST_CONVERTED = 500_000_000
"""Bytes of converted files that are stored, the smallest first; git-lfs manages more."""
_MANY_LOOSE = 20_000
"""Loose objects above which sizes are asked for only if something converts; git itself packs 6,700 of them."""
_CONVERTS = ":(exclude,attr:!filter !working-tree-encoding)"
_CONVERTS_TEXT = ":(exclude,attr:!text !crlf !eol !ident)"
_SUBMODULE = "160000"
_MOST_ARGUMENTS = 500
_FLAGS = ("--no-assume-unchanged", "--no-skip-worktree")


@frozen
class Seed:
    """What is known of the index of a session when it begins.

    Attributes:
        names: Its paths.
        about: Name of the object with the permissions of its files; None if they are not known.
        recent: Paths whose permissions must be examined again.
        missing: Paths that the user's repository contains and the index does not.
        too_large: Converted files that are too large to store, taken together.
        found: What is known of the files already, by path.
    """

    names: Sequence[str] = ()
    about: str | None = None
    recent: Sequence[str] = ()
    missing: Sequence[str] = ()
    too_large: Sequence[str] = ()
    found: Mapping[str, os.stat_result] = field(factory=dict)


def seed(git: Git, root: Path, repository: Runner | None) -> Seed:
    """Make the index of ``git`` if it does not exist; leave it out if there is nothing to make it from.

    Args:
        git: The store.
        root: The work tree.
        repository: The user's repository; None without one.

    Raises:
        GitFailed: git failed.
    """
    if git.index.exists():
        about, recent = _state_of(git.index) or (None, ())
        names = git.paths("ls-files", "-z")
        return Seed(names, about, recent, sorted(tracked_by(repository).difference(names)))
    others = (each for each in git.store.glob(f"{INDEX}*") if "." not in each.name)
    for other in sorted(others, key=_time_of, reverse=True):
        state = _state_of(other)
        if state is not None and _copy(other, git):
            return _from_session(git, repository, *state)
    if repository is not None and _copy(repository.git_dir / "index", git):
        return _from_user(git, root, repository)
    return Seed()


def note_state(index: Path, about: str, recent: Iterable[str]) -> None:
    """Record what is known about an index in a file next to it, until it is written again.

    Args:
        index: The index.
        about: Name of the object with the permissions of its files.
        recent: Paths whose permissions must be examined again.
    """
    try:
        found = index.stat()
    except OSError:
        return  # a work tree without files
    state = {"about": about, "stamp": [found.st_mtime_ns, found.st_size], "recent": sorted(recent)}
    replace_file(index.with_name(f"{index.name}.json"), json.dumps(state).encode(), durable=False)


def _state_of(index: Path) -> tuple[str, list[str]] | None:
    """Return the permissions and the recent paths that were recorded for an index; None if it was written since."""
    try:
        found = index.stat()
        state = json.loads(index.with_name(f"{index.name}.json").read_text(encoding="utf-8"))
        is_current = state["stamp"] == [found.st_mtime_ns, found.st_size]
        return (str(state["about"]), list(state["recent"])) if is_current else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _from_session(git: Git, repository: Runner | None, about: str, recent: Sequence[str]) -> Seed:
    """Keep what the user's repository contains; other files are found again, unless they are ignored by now."""
    names = git.paths("ls-files", "-z")
    if repository is None:
        return Seed(names, about, recent)
    tracked = tracked_by(repository)
    extra = [name for name in names if name not in tracked]
    if extra:
        git.feed(extra, "update-index", "--force-remove", "-z", "--stdin")
        names = [name for name in names if name in tracked]
    return Seed(names, about, recent, sorted(tracked.difference(names)))


def _from_user(git: Git, root: Path, repository: Runner) -> Seed:
    entries, submodules = {}, []
    for tag, mode, blob, path in _entries(git):
        if mode == _SUBMODULE:
            submodules.append(path)
        else:
            entries[path] = (tag, mode, blob, path)
    if submodules:  # as other repositories in the work tree: no checkpoint contains them
        git.feed(submodules, "update-index", "--force-remove", "-z", "--stdin")
    hidden = [path for path, entry in entries.items() if entry[0] not in "HM"]
    if hidden:  # the user has asked git not to look at them
        for flag in _FLAGS:
            git.feed(hidden, "update-index", flag, "-z", "--stdin")
    files = dict(_files(root, entries))
    converted = _converted(git, repository, entries, files)
    too_large = _examine_again(git, [entries[path] for path in converted], files)
    return Seed([*entries], too_large=too_large, found=files)


def _files(root: Path, paths: Iterable[str]) -> Iterator[tuple[str, os.stat_result]]:
    start = f"{root}/"
    for path in paths:
        try:
            yield path, os.lstat(start + path)
        except OSError:
            continue


def tracked_by(repository: Runner | None, names: Sequence[str] = ()) -> set[str]:
    """Return the names, all or of the given ones, that the user's repository contains, ignored or not."""
    if repository is None:
        return set()
    few = len(names) <= _MOST_ARGUMENTS
    found = set(ask_repository(repository, "ls-files", "-z", "-c", *(("--", *names) if names and few else ())))
    return found.intersection(names) if names else found


def excludes_of(repository: Runner | None) -> str | None:
    """Return the user's own file of ignored names; None without one. Blocks."""
    named = ask_repository(repository, "config", "--path", "core.excludesFile") if repository is not None else []
    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    file = (
        os.path.join(repository.top, named[-1])
        if repository is not None and named
        else os.path.join(folder, "git", "ignore")
    )
    return file if os.path.isfile(file) else None


_Entry = tuple[str, str, str, str]
"""Tag, mode, object and path of an entry."""


def _entries(git: Git) -> Iterable[_Entry]:
    for row in git.paths("ls-files", "-z", "-s", "-v"):
        about, _, path = row.partition("\t")
        tag, mode, blob, _ = about.split(" ")
        yield tag, mode, blob, path


def _copy(source: Path, git: Git) -> bool:
    """Copy an index with its time, with which git recognises files that were changed while it was written."""
    try:
        found = source.stat()
        shutil.copyfile(source, git.index)
        os.utime(git.index, ns=(found.st_atime_ns, found.st_mtime_ns))
        git("rev-parse", "--shared-index-path")  # reads it
    except (OSError, GitFailed):  # absent, or of a kind that only the repository itself can read
        git.index.unlink(missing_ok=True)
        return False
    return True


def _converted(
    git: Git, repository: Runner, entries: Mapping[str, _Entry], files: Mapping[str, os.stat_result]
) -> set[str]:
    """Return the paths whose entries may not have the content of the file."""
    found = set(ask_repository(repository, "ls-files", "-z", index=git.index, patterns=[_CONVERTS]))
    if not _has_many_loose(repository.common) or _converts_text(git, repository):
        stored = git.sizes(entry[2] for entry in entries.values())
        found.update(path for path, file in files.items() if stored.get(entries[path][2]) != file.st_size)
    return found & entries.keys()


def _converts_text(git: Git, repository: Runner) -> bool:
    automatic = ask_repository(repository, "config", "core.autocrlf")
    if automatic and automatic[-1].lower() not in ("false", "no", "off", "0"):
        return True
    return bool(ask_repository(repository, "ls-files", "-z", index=git.index, patterns=[_CONVERTS_TEXT]))


def _has_many_loose(common: Path) -> bool:
    try:
        return 256 * len(os.listdir(common / "objects" / "17")) > _MANY_LOOSE
    except OSError:
        return False


def _examine_again(git: Git, entries: Sequence[_Entry], files: Mapping[str, os.stat_result]) -> list[str]:
    """Remove sizes and times from entries, so that git reads their files; return files that are too many bytes."""
    total, too_large = 0, []
    for size, path in sorted((files[entry[3]].st_size, entry[3]) for entry in entries if entry[3] in files):
        total += size
        if total > _MOST_CONVERTED:
            too_large.append(path)
    rows = [
        f"{mode} {blob}\t{path}" for tag, mode, blob, path in entries if tag != "M"
    ]  # conflicts are examined anyway
    if rows:
        git.feed(rows, "update-index", "-z", "--index-info")
    return too_large


def _time_of(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0

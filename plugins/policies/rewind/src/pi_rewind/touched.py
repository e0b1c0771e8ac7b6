"""The paths that pi writes in a folder that is too large to store whole, each with its original content.

A tree of such a folder holds only the paths known when it was made. Its name is git's, followed by ``+`` and the number
of paths; paths added later still had their original content then, so that a tree can be completed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pi_rewind.git import Git

__all__ = ["Touched", "touched_file"]


@frozen
class _Path:
    """A path, with git's mode and the blob name of its original content; both are missing if it did not exist."""

    name: str
    mode: str | None = None
    blob: str | None = None


class Touched:
    """The paths of one session, in the order of their first change.

    Args:
        git: The store.
        session: The session's id.
    """

    def __init__(self, git: Git, session: str) -> None:
        self._git = git
        self._session = session
        self._file = touched_file(git.store, session)
        self._paths: dict[str, _Path] = {}
        if self._file.exists():
            rows = map(json.loads, self._file.read_text(encoding="utf-8").splitlines())
            self._paths = {name: _Path(name, mode, blob) for name, mode, blob in rows}

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __contains__(self, name: object) -> bool:
        return name in self._paths

    def begin(self) -> None:
        """Mark the session as one that records its paths; the store must exist."""
        self._file.touch()

    def add(self, name: str) -> str | None:
        """Add a path with its state in the store's index; return the name of its content, None if it is absent."""
        found = self._git("ls-files", "-s", "-z", "--", name)
        mode, blob = (found.decode("utf-8", "surrogateescape").split(" ")[:2]) if found else (None, None)
        with self._file.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps([name, mode, blob])}\n")
        self._paths[name] = _Path(name, mode, blob)
        return blob

    def named(self, tree: str) -> str:
        """Return the name of a tree made now."""
        return f"{tree}+{len(self._paths)}"

    def complete(self, name: str) -> str:
        """Return git's name of a tree completed with the original state of paths added later.

        Raises:
            GitFailed: The tree is no longer stored.
        """
        tree, _, known = name.partition("+")
        later = [each for each in [*self._paths.values()][int(known or 0) :] if each.mode is not None]
        if not later:
            return tree
        git = self._git.with_index(f"index-{self._session}-completed")
        rows = "".join(f"{each.mode} {each.blob}\t{each.name}\0" for each in later)
        try:
            git("read-tree", tree)
            git("update-index", "--replace", "-z", "--index-info", data=rows.encode("utf-8", "surrogateescape"))
            return git("write-tree").decode().strip()
        finally:
            git.index.unlink(missing_ok=True)


def touched_file(store: Path, session: str) -> Path:
    """Return where the paths of a session are stored."""
    return store / f"touched-{session}.jsonl"

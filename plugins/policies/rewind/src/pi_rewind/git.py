"""git with a separate store: an object database and an index that no other program uses.

The user's configuration and attributes are ignored there: a checkpoint holds the exact bytes that were on disk.
``ask_repository`` reads what the user's own git would do, and changes nothing.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pi_git_kit import Git as Runner
from pi_git_kit import GitFailed, GitMissing, create_repository, read_objects, repository_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

__all__ = ["Git", "GitFailed", "Runner", "ask_repository", "find_repository"]

_SETTINGS = {
    "core.attributesFile": os.devnull,
    "core.autocrlf": "false",
    "core.protectHFS": "false",
    "core.protectNTFS": "false",
    "core.untrackedCache": "false",
}
_RAW = "* -text -filter -ident -eol -working-tree-encoding\n"
"""Attributes that override the work tree's own."""
_PATTERNS = {"GIT_LITERAL_PATHSPECS": "0"}


def find_repository(cwd: Path) -> Runner | None:
    """Return git for the user's repository; None outside of a work tree.

    Raises:
        GitFailed: git is not installed.
    """
    try:
        return repository_of(cwd)
    except GitMissing:
        raise
    except GitFailed as error:
        if not cwd.is_dir():
            raise GitFailed(f"The folder {str(cwd)!r} no longer exists, so it has no checkpoints.") from error
        return None


class Git:
    """Runs git on a store.

    Args:
        store: The folder of the store.
        root: The work tree.
        index: The name of the index in the store; each session has its own.
        excludes: The user's file of ignored names; None without one.
    """

    def __init__(self, store: Path, root: Path, index: str, excludes: str | None = None) -> None:
        self.store = store
        self.root = root
        self.index = store / index
        self._excludes = excludes
        settings = {**_SETTINGS, "core.excludesFile": excludes or os.devnull}
        self._git = Runner(root, store, store, own=True, user_settings=False, index=self.index, settings=settings)

    def with_index(self, name: str) -> Git:
        """Return the same store with another index."""
        return Git(self.store, self.root, name, self._excludes)

    def create(self, objects: Path | None, ignored: Path | None, *, sha256: bool = False) -> None:
        """Create the store if it does not exist.

        Args:
            objects: The object folder of the user's repository; its objects are not stored again.
            ignored: The repository's own file of ignored names.
            sha256: Whether its objects are named by SHA-256.
        """
        self.store.parent.mkdir(parents=True, exist_ok=True)
        if not (self.store / "HEAD").exists():
            self.store.mkdir(mode=0o700, exist_ok=True)
            create_repository(self._git, bare=True, sha256=sha256)
        info = self.store / "info"
        info.mkdir(exist_ok=True)
        (info / "attributes").write_text(_RAW)
        (info / "exclude").write_bytes(ignored.read_bytes() if ignored is not None and ignored.is_file() else b"")
        if objects is not None:
            alternates = self.store / "objects" / "info" / "alternates"
            alternates.parent.mkdir(parents=True, exist_ok=True)
            alternates.write_text(f"{objects}\n")

    def __call__(self, *arguments: str, data: bytes = b"") -> bytes:
        """Run a command in which a path is no pattern, and return its output.

        Raises:
            GitFailed: It ended with an error; the message is git's own.
        """
        return self._git.read(*arguments, data=data)

    def matches(self, patterns: Sequence[str], *options: str) -> list[str]:
        """Return the names that ``git ls-files`` lists for patterns; none without a pattern."""
        git = self._git.with_(variables=_PATTERNS)
        return git.names("ls-files", "-z", *options, "--", *patterns) if patterns else []

    def paths(self, *arguments: str) -> list[str]:
        """Return the NUL-terminated names that a command prints."""
        return _names(self(*arguments))

    def feed(self, names: Iterable[str], *arguments: str) -> bytes:
        """Run a command that reads NUL-terminated names, and return its output."""
        return self(*arguments, data=b"".join(os.fsencode(name) + b"\0" for name in names))

    def sizes(self, names: Iterable[str]) -> dict[str, int]:
        """Return the sizes of objects in bytes by their names, without those that do not exist."""
        wanted = "".join(f"{name}\n" for name in dict.fromkeys(names))
        output = self("cat-file", "--batch-check=%(objectname) %(objectsize)", "--buffer", data=wanted.encode())
        rows = (line.split(" ") for line in output.decode().splitlines())
        return {name: int(size) for name, size in rows if size != "missing"}

    def ignored(self, paths: Sequence[str]) -> set[str]:
        """Return which paths the ``.gitignore`` files of the work tree ignore, in the index or not."""
        if not paths:
            return set()
        data = b"".join(b"./" + os.fsencode(path) + b"\0" for path in paths)  # "./" keeps ":" from being a pattern
        done = self._git.with_(variables=_PATTERNS).attempt("check-ignore", "-z", "--stdin", "--no-index", data=data)
        if done.code not in (0, 1):  # 1: none is
            raise GitFailed(f"git check-ignore failed in {str(self.root)!r}: {done.reason}", done.code)
        return {name.removeprefix("./") for name in _names(done.data)}

    @contextmanager
    def rules_of(self, tree: str) -> Iterator[Git]:
        """Yield git for a folder that contains only the ``.gitignore`` files of a tree."""
        rules = {}
        for row in self.paths("ls-tree", "-r", "-z", tree):
            about, _, path = row.partition("\t")
            mode, _, blob = about.split(" ")
            if path.rpartition("/")[2] == ".gitignore" and mode.startswith("100"):
                rules[path] = blob
        with tempfile.TemporaryDirectory(prefix="pi-rewind-") as folder:
            root = type(self.root)(folder)
            contents = self.contents(rules.values())
            for path, blob in rules.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_bytes(contents[blob])
            yield Git(self.store, root, "no-index", self._excludes)

    def contents(self, names: Iterable[str]) -> dict[str, bytes]:
        """Return the contents of objects by their names.

        Raises:
            GitFailed: One does not exist.
        """
        return read_objects(self._git, names)


def ask_repository(git: Runner, *arguments: str, index: Path | None = None, patterns: Sequence[str] = ()) -> list[str]:
    """Run a command that only reads in the user's repository, with the user's configuration; return the names printed.

    Args:
        git: The repository.
        arguments: The command.
        index: Another index than the repository's own.
        patterns: Patterns of the paths that it lists.

    Returns:
        NUL-terminated names; empty if the command failed.
    """
    git = git.with_(index=index, variables=_PATTERNS if patterns else {})
    done = git.attempt(*arguments, *(("--", *patterns) if patterns else ()))
    return [] if done.code else _names(done.data)


def _names(output: bytes) -> list[str]:
    """Return NUL-terminated names."""
    return [name for name in output.decode("utf-8", "surrogateescape").split("\0") if name]

"""Runs git with a separate store: an object database and an index that no other program uses.

The user's configuration, hooks, filters and attributes are ignored: a checkpoint holds the exact bytes that were on
disk. ``ask_repository`` reads what the user's own git would do, and changes nothing.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

__all__ = ["Git", "GitFailed", "ask_repository", "workspace_of"]

_OPTIONS = {
    "core.hooksPath": os.devnull,
    "core.autocrlf": "false",
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.protectHFS": "false",
    "core.protectNTFS": "false",
    "core.quotePath": "false",
    "core.attributesFile": os.devnull,
    "gc.auto": "0",
}
_RAW = "* -text -filter -ident -eol -working-tree-encoding\n"
"""Attributes that override the work tree's own."""


class GitFailed(UserError):
    """git is not installed, or ended with an error; the message says what to do."""


def workspace_of(cwd: Path) -> tuple[Path, Path, Path] | None:
    """Return the work tree of a folder, its git directory, and the one with the objects; None outside a repository."""
    asked = ("rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir")
    done = _run("git", "-C", os.fspath(cwd), *asked, env=_environment())
    lines = os.fsdecode(done.stdout).splitlines()
    if done.returncode or len(lines) != 3:  # noqa: PLR2004 - a bare repository has no work tree
        return None
    top, own, common = (type(cwd)(line) for line in lines)
    return top, own, common


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
        options = {**_OPTIONS, "core.excludesFile": excludes or os.devnull}
        self._command = ["git", *(part for name, value in options.items() for part in ("-c", f"{name}={value}"))]
        self._env = {
            **_environment(),
            "GIT_DIR": os.fspath(store),
            "GIT_WORK_TREE": os.fspath(root),
            "GIT_INDEX_FILE": os.fspath(self.index),
        }

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
            kind = ("--object-format=sha256",) if sha256 else ()
            store = os.fspath(self.store)
            done = _run("git", "init", "--quiet", "--bare", "--template=", *kind, store, env=_environment())
            if done.returncode:
                raise GitFailed(f"git cannot create the checkpoints in {store!r}: {_said(done)}")
        info = self.store / "info"
        info.mkdir(exist_ok=True)
        (info / "attributes").write_text(_RAW)
        (info / "exclude").write_bytes(ignored.read_bytes() if ignored is not None and ignored.is_file() else b"")
        if objects is not None:
            alternates = self.store / "objects" / "info" / "alternates"
            alternates.parent.mkdir(parents=True, exist_ok=True)
            alternates.write_text(f"{objects}\n")

    def __call__(self, *arguments: str, data: bytes = b"") -> bytes:
        """Run a command, and return its output.

        Raises:
            GitFailed: It ended with an error; the message is git's own.
        """
        return self._run(arguments, data, (0,))

    def _run(self, arguments: Sequence[str], data: bytes, expected: Sequence[int]) -> bytes:
        done = _run(*self._command, *arguments, env=self._env, cwd=self.root, data=data)
        if done.returncode not in expected:
            raise GitFailed(f"git {arguments[0]} failed in the checkpoints of {str(self.root)!r}: {_said(done)}")
        return done.stdout

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
        data = b"".join(os.fsencode(path) + b"\0" for path in paths)
        return set(_names(self._run(("check-ignore", "-z", "--stdin", "--no-index"), data, (0, 1))))  # 1: none is

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
        """Return the contents of objects by their names."""
        wanted = list(dict.fromkeys(names))
        output = self("cat-file", "--batch", data="".join(f"{name}\n" for name in wanted).encode())
        found, place = {}, 0
        for name in wanted:
            end = output.index(b"\n", place)
            header = output[place:end].split()
            if header[-1] == b"missing":
                raise GitFailed(f"The object {name} of a checkpoint is gone: the repository was cleaned up since.")
            size = int(header[2])
            found[name] = output[end + 1 : end + 1 + size]
            place = end + 1 + size + 1
        return found


def ask_repository(root: Path, *arguments: str, index: Path | None = None, data: bytes = b"") -> list[str]:
    """Run a command that only reads in the user's repository, with the user's configuration; return the names printed.

    Args:
        root: The work tree.
        arguments: The command; no hook, monitor or filter runs for it.
        index: Another index than the repository's own.
        data: Its input.

    Returns:
        NUL-terminated names; empty if the command failed.
    """
    own = {name: value for name, value in os.environ.items() if name.startswith("GIT_CONFIG") or name[:4] != "GIT_"}
    env = {**own, **{name: value for name, value in _environment().items() if not name.startswith("GIT_CONFIG")}}
    if index is not None:
        env["GIT_INDEX_FILE"] = os.fspath(index)
    quiet = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-c", "core.untrackedCache=false")
    done = _run("git", *quiet, *arguments, env=env, cwd=root, data=data)
    return [] if done.returncode else _names(done.stdout)


def _names(output: bytes) -> list[str]:
    """Return NUL-terminated names."""
    return [name for name in output.decode("utf-8", "surrogateescape").split("\0") if name]


def _run(
    *command: str, env: dict[str, str], cwd: Path | None = None, data: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Run git to its end.

    Raises:
        GitFailed: It cannot be started.
    """
    try:
        return subprocess.run(command, env=env, cwd=cwd, input=data, capture_output=True, check=False)
    except FileNotFoundError as error:
        if cwd is not None and not cwd.is_dir():
            raise GitFailed(f"The folder {str(cwd)!r} is gone, so that it has no checkpoints.") from error
        raise GitFailed("Checkpoints need git, and there is no git on PATH. Install it.") from error


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    return done.stderr.decode("utf-8", "replace").strip() or f"exit code {done.returncode}"


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TMPDIR", "TEMP", "TMP") if name in os.environ}
    return {
        **kept,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }

"""Runs git with a separate store: an object database and an index that no other program uses.

The user's configuration, hooks, filters and attributes are ignored: a checkpoint holds the exact bytes that were on
disk.
"""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["Git", "GitFailed", "workspace_of"]

_OPTIONS = {
    "core.hooksPath": os.devnull,
    "core.autocrlf": "false",
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
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
        if not (self.store / "HEAD").exists():
            self.store.mkdir(parents=True, exist_ok=True)
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
        done = _run(*self._command, *arguments, env=self._env, cwd=self.root, data=data)
        if done.returncode:
            raise GitFailed(f"git {arguments[0]} failed in the checkpoints of {str(self.root)!r}: {_said(done)}")
        return done.stdout

    def paths(self, *arguments: str) -> list[str]:
        """Return the NUL-terminated names that a command prints."""
        return [os.fsdecode(name) for name in self(*arguments).split(b"\0") if name]

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

"""Runs one git command in one repository, with nothing of the repository executed.

What a command could start is known for every command that is allowed here; the others are refused. Every function of
this library blocks: call it in a thread where an event loop runs.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve, field, frozen

from pi_git_kit.overrides import options, overrides_of
from pi_git_kit.starting import GitFailed, environment, run, start

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pi_git_kit.starting import Output, Prepare

__all__ = ["Git"]

_DIFF = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "--submodule=short")
_SHOW = ("--no-ext-diff", "--no-textconv", "--submodule=short", "--no-show-signature")
_COMMANDS: dict[str, tuple[str, ...]] = {
    "apply": (),
    "branch": (),
    "cat-file": (),
    "check-ignore": (),
    "checkout": (),
    "checkout-index": (),
    "commit-tree": ("--no-gpg-sign",),
    "config": ("-z", "--get"),
    "diff": _DIFF,
    "diff-files": _DIFF,
    "diff-index": _DIFF,
    "diff-tree": _DIFF,
    "fetch": ("--no-recurse-submodules",),
    "for-each-ref": (),
    "hash-object": (),
    "log": _SHOW,
    "ls-files": (),
    "ls-tree": (),
    "merge-base": (),
    "merge-file": (),
    "mktree": (),
    "prune": (),
    "read-tree": ("--no-recurse-submodules",),
    "remote": (),
    "rev-list": (),
    "rev-parse": (),
    "show": _SHOW,
    "status": ("--ignore-submodules=dirty",),
    "symbolic-ref": (),
    "update-index": (),
    "update-ref": (),
    "worktree": (),
    "write-tree": (),
}
"""The commands that may run, with the options that keep each from starting programs.

A command that looks into a nested repository, as ``add`` does, starts a git there, which obeys that repository's
configuration; those that can be kept from it are here, the others are not.
"""

_CHUNK = 1 << 16


@frozen
class Git:
    """Runs git in a repository, whose place is given, so that files of the work tree cannot change it.

    Attributes:
        top: The top of the work tree, in which git runs.
        git_dir: The folder with index and HEAD.
        common: The git folder that all worktrees of the repository share.
        below: The folder in which the caller works, relative to the top.
        index: Another index than that of the git folder.
        own: Whether pi made the repository, and only pi writes its configuration, which is then obeyed.
        user_settings: Whether the user's configuration for all repositories is obeyed.
        protocols: The transports that may be used, separated by colons; None for git's own choice.
        settings: Further settings of every command, by key.
        variables: Further environment variables.
        environ: The environment of pi.
        prepare: Changes how git is started.
    """

    top: Path
    git_dir: Path
    common: Path
    below: Path = field(factory=Path, kw_only=True)
    index: Path | None = field(default=None, kw_only=True)
    own: bool = field(default=False, kw_only=True)
    user_settings: bool = field(default=True, kw_only=True)
    protocols: str | None = field(default="", kw_only=True)
    settings: Mapping[str, str] = field(factory=dict, kw_only=True)
    variables: Mapping[str, str] = field(factory=dict, kw_only=True)
    environ: Mapping[str, str] = field(factory=lambda: os.environ, kw_only=True)
    prepare: Prepare | None = field(default=None, kw_only=True)

    def with_(self, **changes: object) -> Git:
        """Return git for the same repository with other attributes."""
        return evolve(self, **changes)  # type: ignore[arg-type] # names of attributes

    def __call__(self, *arguments: str, data: bytes = b"") -> str:
        """Run a command and return what it printed, without the newlines at its end.

        Raises:
            GitFailed: It failed.
        """
        return os.fsdecode(self.read(*arguments, data=data)).strip("\n")

    def names(self, *arguments: str, data: bytes = b"") -> list[str]:
        """Return the NUL-terminated names that a command printed.

        Raises:
            GitFailed: It failed.
        """
        return [name for name in os.fsdecode(self.read(*arguments, data=data)).split("\0") if name]

    def read(self, *arguments: str, data: bytes = b"") -> bytes:
        """Run a command and return the bytes that it printed.

        Raises:
            GitFailed: It failed.
        """
        output = self.attempt(*arguments, data=data)
        if output.code:
            raise GitFailed(f"git {arguments[0]} failed in {str(self.top)!r}: {output.reason}", output.code)
        return output.data

    def attempt(self, *arguments: str, data: bytes = b"") -> Output:
        """Run a command and return its output, also if it failed.

        Raises:
            GitFailed: git cannot be started, or the configuration of the repository cannot be read.
            ValueError: The command is none that may run here.
        """
        return run(self._checked(arguments), self.top, self._environment(), self.prepare, data)

    def stream(self, *arguments: str) -> Iterator[bytes]:
        """Run a command and yield what it prints, in pieces; it is ended if the caller stops.

        Raises:
            GitFailed: git cannot be started, or the configuration of the repository cannot be read.
            ValueError: The command is none that may run here.
        """
        with start(self._checked(arguments), self.top, self._environment(), self.prepare) as process:
            assert process.stdout is not None  # noqa: S101 - it is a pipe
            try:
                while chunk := os.read(process.stdout.fileno(), _CHUNK):
                    yield chunk
            finally:
                process.terminate()

    def _checked(self, arguments: Sequence[str]) -> list[str]:
        """Return the arguments of git for a command, with everything that keeps it from starting programs."""
        if arguments[0] not in _COMMANDS:
            raise ValueError(f"git {arguments[0]} is not known to be safe: add it to the commands of pi_git_kit")
        command, *rest = arguments
        return [*self._options(self._overrides()), command, *_COMMANDS[command], *rest]

    def _overrides(self) -> Mapping[str, str]:
        if self.own:
            return {}
        arguments = [*self._options({}), "config", "--list", "--show-scope", "--includes", "-z"]
        listing = run(arguments, self.top, self._environment(), self.prepare)
        if listing.code:
            raise GitFailed(
                f"git cannot read the configuration of {str(self.top)!r}, or is older than 2.26: {listing.reason}"
            )
        found = overrides_of(listing.data)
        if unsafe := next((key for key in found if "=" in key), None):
            raise GitFailed(
                f"The configuration of {str(self.top)!r} names a program under {unsafe!r}, which pi cannot switch off"
                f" because of the '=' in it. Remove it: git config --unset-all {unsafe!r}"
            )
        return found

    def _options(self, overrides: Mapping[str, str]) -> list[str]:
        place = (f"--git-dir={self.git_dir}", f"--work-tree={self.top}")
        return [*options({**self.settings, **overrides}), *place]

    def _environment(self) -> dict[str, str]:
        found = environment(self.environ, protocols=self.protocols, user_settings=self.user_settings)
        if self.index is not None:
            found["GIT_INDEX_FILE"] = os.fspath(self.index)
        return {**found, **self.variables}

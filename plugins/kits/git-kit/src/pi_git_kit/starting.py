"""Starts git: with which environment, and through the plugins of the session if there is one.

git runs without a terminal and in a session of its own: it cannot ask, and Ctrl-C reaches pi alone, which ends it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING, TypeAlias

from attrs import frozen

from pi_hookspecs import UserError
from pi_hookspecs.programs import SpawnRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

__all__ = ["ForeignOwner", "GitFailed", "GitMissing", "Output", "Prepare", "environment", "run", "start"]

Prepare: TypeAlias = "Callable[[SpawnRequest], SpawnRequest]"
"""Changes how git is started; ``ask_plugins`` returns one that asks the plugins of a session."""

_KEPT = frozenset(
    {
        "GIT_ASKPASS",
        "GIT_CEILING_DIRECTORIES",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM",
        "GIT_EXEC_PATH",
        "GIT_SSL_CAINFO",
        "GIT_SSL_CAPATH",
    }
)
"""Variables of git that say where the user's own configuration and certificates are; all others are removed."""

_FIXED = {
    "GIT_EDITOR": ":",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_SEQUENCE_EDITOR": ":",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


class GitFailed(UserError):
    """git is not installed, or a command failed; the message says why.

    Attributes:
        code: Its exit code; None if it was not started.
    """

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code


class GitMissing(GitFailed):
    """git is not installed."""


class ForeignOwner(GitFailed):
    """git does not read a repository, because another user owns it."""


@frozen
class Output:
    """What a command printed.

    Attributes:
        code: Its exit code.
        data: What it wrote to stdout.
        errors: What it wrote to stderr.
    """

    code: int
    data: bytes
    errors: str

    @property
    def reason(self) -> str:
        """The last line of its errors, or its exit code."""
        lines = self.errors.strip().splitlines()
        return lines[-1] if lines else f"exit code {self.code}"


def environment(environ: Mapping[str, str], *, protocols: str | None, user_settings: bool) -> dict[str, str]:
    """Return the environment of git.

    Args:
        environ: The environment of pi.
        protocols: The transports that may be used, separated by colons; None for git's own choice.
        user_settings: Whether the user's configuration for all repositories is obeyed.
    """
    kept = {name: value for name, value in environ.items() if not name.startswith("GIT_") or name in _KEPT}
    folders = kept.get("PATH", os.defpath).split(os.pathsep)
    kept["PATH"] = os.pathsep.join(filter(os.path.isabs, folders))  # others would lead into the work tree
    if not user_settings:
        kept |= {"GIT_ATTR_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    if protocols is None:
        return {**kept, **_FIXED, "GIT_SSH_COMMAND": "ssh -o BatchMode=yes"}
    return {**kept, **_FIXED, "GIT_ALLOW_PROTOCOL": protocols, "GIT_ASKPASS": "", "GIT_PROXY_COMMAND": ""}


def run(
    arguments: Sequence[str], cwd: Path, env: Mapping[str, str], prepare: Prepare | None, data: bytes = b""
) -> Output:
    """Run git and return its output.

    Raises:
        GitFailed: It cannot be started.
    """
    with start(arguments, cwd, env, prepare, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            out, err = process.communicate(data)
        except BaseException:  # Ctrl-C ends pi, and git with it
            process.kill()
            raise
    return Output(process.returncode, out, err.decode("utf-8", "replace"))


def start(
    arguments: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    prepare: Prepare | None,
    *,
    stdin: int = subprocess.DEVNULL,
    stderr: int = subprocess.DEVNULL,
) -> subprocess.Popen[bytes]:
    """Start git with a pipe for its output.

    Raises:
        GitFailed: It cannot be started.
    """
    program = shutil.which("git", path=env["PATH"])
    if program is None:
        raise GitMissing("git is required, but it is not on PATH. Install git")
    request = SpawnRequest(argv=(program, *arguments), cwd=os.fspath(cwd), env=env, purpose="git")
    if prepare is not None:
        request = prepare(request)
    try:
        return subprocess.Popen(  # noqa: S603 - the one place that starts git
            list(request.argv),
            cwd=request.cwd,
            env=dict(request.env),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            start_new_session=True,
        )
    except FileNotFoundError as error:
        raise GitFailed(f"git cannot be run: the folder {request.cwd!r} no longer exists") from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in an argument
        reason = getattr(error, "strerror", None) or error
        raise GitFailed(f"git cannot be run in {request.cwd!r}: {reason}") from error

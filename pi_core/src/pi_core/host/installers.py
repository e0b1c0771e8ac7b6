"""Runs programs that install distributions so that they use only the user's own configuration.

An installer obeys the ``uv.toml``, ``pyproject.toml`` or ``.npmrc`` of its working directory, which may be a stranger's
project. Therefore it runs in one of pi's own folders and without the variables of a project. The user's configuration
in the home folder and in the environment is used, because it determines where packages come from.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

from pi_hookspecs import UserError
from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pi_hookspecs import SettingsView

__all__ = [
    "INSTALL_SECONDS",
    "NPM_SHORT_WAITS",
    "Finished",
    "clean_environment",
    "find_program",
    "is_offline",
    "npm_command",
    "run_installer",
]

INSTALL_SECONDS = 600.0

NPM_SHORT_WAITS = ("--fetch-retry-mintimeout=200", "--fetch-retry-maxtimeout=1000")
"""Milliseconds between tries. npm waits up to a minute before it tries once more, also for a file with a wrong hash."""

_OF_A_PROJECT = frozenset(
    {
        "CONDA_PREFIX",
        "PIP_PREFIX",
        "PIP_REQUIRE_VIRTUALENV",
        "PIP_ROOT",
        "PIP_TARGET",
        "PIP_USER",
        "VIRTUAL_ENV",
        "UV_BUILD_CONSTRAINT",
        "UV_CONSTRAINT",
        "UV_ENV_FILE",
        "UV_EXCLUDE",
        "UV_OVERRIDE",
        "UV_PROJECT",
        "UV_PROJECT_ENVIRONMENT",
        "UV_PYTHON",
        "UV_SYSTEM_PYTHON",
        "UV_WORKING_DIR",
        "UV_WORKING_DIRECTORY",
    }
)
"""Variables of the user's current project, which name its dependencies and where they are installed."""


@frozen(eq=False, repr=False)
class Finished(Value):
    """A program that has ended.

    Attributes:
        code: Its exit code.
        output: Its output on stdout.
        errors: Its output on stderr.
    """

    code: int
    output: str
    errors: str

    def last_lines(self, count: int = 6) -> str:
        """Return the last lines of its stderr, or its exit code if stderr is empty."""
        return "\n".join(self.errors.strip().splitlines()[-count:]) or f"exit code {self.code}"


def is_offline(environ: Mapping[str, str]) -> bool:
    """Whether downloads are forbidden."""
    return environ.get("PI_OFFLINE", "0") not in ("", "0")


def find_program(name: str, environ: Mapping[str, str]) -> str | None:
    """Return a program's path, ignoring relative folders on ``PATH``, which would lead into the project."""
    folders = environ.get("PATH", os.defpath).split(os.pathsep)
    found = shutil.which(name, path=os.pathsep.join(filter(os.path.isabs, folders)))
    return found if found is not None and os.path.isabs(found) else None  # noqa: PTH117 - a text, as which returns it


def npm_command(settings: SettingsView, environ: Mapping[str, str]) -> list[str]:
    """Return the words that start npm: those of the setting ``npmCommand``, else its path; empty if it is missing."""
    npm = find_program("npm", environ)
    return settings.get_str_list("npmCommand") or ([npm] if npm is not None else [])


def clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without the variables of a project or of an interpreter that was started for it."""
    env = {
        name: value for name, value in environ.items() if name not in _OF_A_PROJECT and not name.startswith("PYTHON")
    }
    if is_offline(env):
        env["UV_OFFLINE"] = "1"
    return env


def run_installer(
    command: Sequence[str], folder: Path, environ: Mapping[str, str], seconds: float = INSTALL_SECONDS
) -> Finished:
    """Run a program to completion, without stdin, in one of pi's own folders.

    Raises:
        UserError: The program did not end in time, or cannot be started.
    """
    try:
        done = subprocess.run(  # noqa: S603 - an installer, with what the user's own file names
            command,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
            cwd=folder,
            env=clean_environment(environ),
        )
    except subprocess.TimeoutExpired:
        raise UserError(f"{os.path.basename(command[0])} did not finish within {seconds:g} s") from None  # noqa: PTH119
    except OSError as error:
        raise UserError(f"{command[0]} cannot be run in {folder}: {error.strerror}") from error
    return Finished(done.returncode, done.stdout, done.stderr)

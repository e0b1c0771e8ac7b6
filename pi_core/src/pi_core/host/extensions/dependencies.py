"""What extensions need, installed with uv into folders of the agent directory's cache, one per set of requirements.

The folders are at the end of the import path: what pi itself uses stays as it is. uv runs in the cache: an installer
obeys the ``uv.toml`` or ``pyproject.toml`` of the folder that it runs in, which may be a stranger's project. The user's
own configuration, in the home folder and the environment, counts: it says where packages come from.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

__all__ = ["install", "is_here", "use"]

INSTALL_SECONDS = 600.0
_LAST_LINES = 6
_OF_A_PROJECT = frozenset(
    {
        "CONDA_PREFIX",
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
"""Variables of the project that the user works on: they say what it needs, and where that is installed."""


def is_here(requirement: str) -> bool:
    """Whether pi's environment meets a requirement already, or it is for other environments than this one."""
    from importlib.metadata import PackageNotFoundError, version

    from packaging.requirements import InvalidRequirement, Requirement

    try:
        wanted = Requirement(requirement)
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
            return True
        installed = version(wanted.name)
    except (InvalidRequirement, PackageNotFoundError):
        return False
    return not (wanted.url or wanted.extras) and wanted.specifier.contains(installed, prereleases=True)


def install(
    requirements: Sequence[str], cache: Path, say: Callable[[str], object], environ: Mapping[str, str] | None = None
) -> Path | None:
    """Return the folder that has these requirements, installed now if it is not there; None where nothing is missing.

    Args:
        requirements: As pip takes them.
        cache: The folder with the folders; uv runs in it.
        say: Called with a line before it takes a while.
        environ: The environment for uv, less what belongs to a project; the process's when None. With
            ``PI_OFFLINE`` uv takes what it has fetched before, and nothing else.

    Raises:
        UserError: There is no uv, no network, or no such distribution.
    """
    missing = [each for each in requirements if not is_here(each)]
    if not missing:
        return None
    cache = cache.absolute()
    folder = cache / _key(missing)
    if folder.is_dir():
        return folder
    environ = os.environ if environ is None else environ
    uv = _find_uv(environ)
    if uv is None:
        wanted = " ".join(missing)
        raise UserError(f"it needs {wanted}, and uv, which would install it, is not there. Install uv, or {wanted}")
    say(f"Installing {', '.join(missing)}")
    draft = cache / f".{folder.name}-{os.getpid()}"
    try:
        cache.mkdir(parents=True, exist_ok=True)
        command = [uv, "pip", "install", "--python", sys.executable, "--target", str(draft), "--", *missing]
        _run_uv(command, cache, environ)
        with suppress(FileExistsError):
            draft.rename(folder)
    except OSError as error:
        if not folder.is_dir():  # else another process was faster
            raise UserError(
                f"it needs {' '.join(missing)}, which cannot be kept in {cache}: {error.strerror}"
            ) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder


def use(folder: Path) -> None:
    """Let the distributions in a folder be imported."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _find_uv(environ: Mapping[str, str]) -> str | None:
    """Return uv's path; folders on ``PATH`` that are relative lead into the project, and do not count."""
    folders = environ.get("PATH", os.defpath).split(os.pathsep)
    found = shutil.which("uv", path=os.pathsep.join(filter(os.path.isabs, folders)))
    return found if found is not None and os.path.isabs(found) else None  # noqa: PTH117 - a text, as which returns it


def _clean(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without what a project, or an interpreter that was started for it, put there."""
    env = {
        name: value for name, value in environ.items() if name not in _OF_A_PROJECT and not name.startswith("PYTHON")
    }
    if env.get("PI_OFFLINE", "0") not in ("", "0"):
        env["UV_OFFLINE"] = "1"
    return env


def _run_uv(command: Sequence[str], folder: Path, environ: Mapping[str, str]) -> None:
    try:
        done = subprocess.run(  # noqa: S603 - uv, with what the user's own file names
            command,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=INSTALL_SECONDS,
            check=False,
            cwd=folder,
            env=_clean(environ),
        )
    except subprocess.TimeoutExpired:
        raise UserError(f"uv did not install {command[-1]} within {INSTALL_SECONDS:g} s") from None
    if done.returncode != 0:
        reason = "\n".join(done.stderr.strip().splitlines()[-_LAST_LINES:]) or f"exit code {done.returncode}"
        raise UserError(f"uv cannot install what it needs:\n{reason}")


def _key(requirements: Sequence[str]) -> str:
    from hashlib import sha256

    text = "\n".join([f"{sys.version_info[0]}.{sys.version_info[1]} {sys.platform}", *sorted(requirements)])
    return sha256(text.encode()).hexdigest()[:16]

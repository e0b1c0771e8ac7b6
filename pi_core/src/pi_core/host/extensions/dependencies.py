"""Installs extensions' requirements with uv, into one folder of the agent directory's cache per set of requirements.

The folders are at the end of the import path, so pi's own dependencies are unaffected. uv runs in the cache; see
``pi_core.host.installers``.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from pi_core.host.installers import find_program, run_installer
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

__all__ = ["install", "is_here", "use"]


def is_here(requirement: str) -> bool:
    """Whether pi's environment already meets a requirement, or the requirement is for other environments."""
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
    """Return the folder with these requirements, after installing them if necessary; None if nothing is missing.

    Args:
        requirements: Requirements in pip's syntax.
        cache: The folder that contains the installed folders; uv runs in it.
        say: Called with a line of text before a slow step.
        environ: The environment for uv, from which a project's variables are removed; None uses the environment of the
            process. With ``PI_OFFLINE``, uv uses only what it has already downloaded.

    Raises:
        UserError: uv is not installed, there is no network, or the distribution does not exist.
    """
    missing = [each for each in requirements if not is_here(each)]
    if not missing:
        return None
    cache = cache.absolute()
    folder = cache / _key(missing)
    if folder.is_dir():
        return folder
    environ = os.environ if environ is None else environ
    uv = find_program("uv", environ)
    if uv is None:
        wanted = " ".join(missing)
        raise UserError(f"it needs {wanted}, and uv, which would install it, is missing. Install uv, or {wanted}")
    say(f"Installing {', '.join(missing)}")
    draft = cache / f".{folder.name}-{os.getpid()}"
    try:
        cache.mkdir(parents=True, exist_ok=True)
        command = [uv, "pip", "install", "--python", sys.executable, "--target", str(draft), "--", *missing]
        done = run_installer(command, cache, environ)
        if done.code != 0:
            raise UserError(f"uv cannot install what it needs:\n{done.last_lines()}")
        with suppress(FileExistsError):
            draft.rename(folder)
    except OSError as error:
        if not folder.is_dir():  # otherwise another process was faster
            raise UserError(
                f"it needs {' '.join(missing)}, which cannot be stored in {cache}: {error.strerror}"
            ) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder


def use(folder: Path) -> None:
    """Add a folder to the import path, so that its distributions can be imported."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _key(requirements: Sequence[str]) -> str:
    from hashlib import sha256

    text = "\n".join([f"{sys.version_info[0]}.{sys.version_info[1]} {sys.platform}", *sorted(requirements)])
    return sha256(text.encode()).hexdigest()[:16]

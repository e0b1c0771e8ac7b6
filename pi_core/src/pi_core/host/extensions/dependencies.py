"""What extensions need, installed with uv into folders of the agent directory's cache, one per set of requirements.

The folders are at the end of the import path: what pi itself uses stays as it is. uv runs in the cache, see
``pi_core.host.installers``.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from pi_core.host.installers import find_program, run_program
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

__all__ = ["install", "is_here", "use"]


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
    uv = find_program("uv", environ)
    if uv is None:
        wanted = " ".join(missing)
        raise UserError(f"it needs {wanted}, and uv, which would install it, is not there. Install uv, or {wanted}")
    say(f"Installing {', '.join(missing)}")
    draft = cache / f".{folder.name}-{os.getpid()}"
    try:
        cache.mkdir(parents=True, exist_ok=True)
        command = [uv, "pip", "install", "--python", sys.executable, "--target", str(draft), "--", *missing]
        done = run_program(command, cache, environ)
        if done.code != 0:
            raise UserError(f"uv cannot install what it needs:\n{done.last_lines()}")
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


def _key(requirements: Sequence[str]) -> str:
    from hashlib import sha256

    text = "\n".join([f"{sys.version_info[0]}.{sys.version_info[1]} {sys.platform}", *sorted(requirements)])
    return sha256(text.encode()).hexdigest()[:16]

"""What extensions need, installed with uv into folders of the agent directory's cache, one per set of requirements.

The folders stand at the end of the import path: what pi itself uses stays as it is.
"""

from __future__ import annotations

import os
import re
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
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_LAST_LINES = 6


def is_here(requirement: str) -> bool:
    """Whether a requirement that names no version is installed beside pi already."""
    if not _PLAIN_NAME.fullmatch(requirement):
        return False
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        distribution(requirement)
    except PackageNotFoundError:
        return False
    return True


def install(
    requirements: Sequence[str], cache: Path, say: Callable[[str], object], environ: Mapping[str, str] | None = None
) -> Path | None:
    """Return the folder that has these requirements, installed now if it is not there; None where nothing is missing.

    Args:
        requirements: As pip takes them.
        cache: Where the folders are.
        say: Told, in a line, that it takes a while.
        environ: The environment for uv; the process's when None. With ``PI_OFFLINE`` uv takes what it has fetched
            before, and nothing else (pi.md 12.1).

    Raises:
        UserError: There is no uv, no network, or no such distribution.
    """
    missing = [each for each in requirements if not is_here(each)]
    if not missing:
        return None
    folder = cache / _key(missing)
    if folder.is_dir():
        return folder
    uv = shutil.which("uv", path=(os.environ if environ is None else environ).get("PATH"))
    if uv is None:
        wanted = " ".join(missing)
        raise UserError(f"it needs {wanted}, and uv, which would install it, is not there. Install uv, or {wanted}")
    say(f"Installing {', '.join(missing)}")
    draft = cache / f".{folder.name}-{os.getpid()}"
    try:
        cache.mkdir(parents=True, exist_ok=True)
        _run_uv([uv, "pip", "install", "--python", sys.executable, "--target", str(draft), "--", *missing], environ)
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


def _run_uv(command: Sequence[str], environ: Mapping[str, str] | None) -> None:
    env = dict(os.environ if environ is None else environ)
    if env.get("PI_OFFLINE", "0") not in ("", "0"):
        env["UV_OFFLINE"] = "1"
    try:
        done = subprocess.run(  # noqa: S603 - uv, with what the user's own file names
            command,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=INSTALL_SECONDS,
            check=False,
            env=env,
        )
    except subprocess.TimeoutExpired:
        raise UserError(f"uv did not install {command[-1]} within {INSTALL_SECONDS:g} s") from None
    if done.returncode != 0:
        said = "\n".join(done.stderr.strip().splitlines()[-_LAST_LINES:]) or f"exit code {done.returncode}"
        raise UserError(f"uv cannot install what it needs:\n{said}")


def _key(requirements: Sequence[str]) -> str:
    from hashlib import sha256

    text = "\n".join([f"{sys.version_info[0]}.{sys.version_info[1]} {sys.platform}", *sorted(requirements)])
    return sha256(text.encode()).hexdigest()[:16]

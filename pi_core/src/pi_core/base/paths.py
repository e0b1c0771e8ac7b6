"""Paths: the user's home folder, pi's own files in it, and paths that users write."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["agent_dir", "below_home", "home_dir", "make_cache"]


def home_dir(environ: Mapping[str, str] | None = None) -> Path:
    """Return the user's home folder.

    Args:
        environ: Environment variables; by default the process's.
    """
    environ = os.environ if environ is None else environ
    return Path(environ.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111 - Path.home() raises where there is none


def agent_dir(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of the user's own files: ``PI_CODING_AGENT_DIR``, else ``~/.pi/agent``.

    Args:
        environ: Environment variables; by default the process's.
    """
    environ = os.environ if environ is None else environ
    chosen = environ.get("PI_CODING_AGENT_DIR")
    if not chosen:
        return home_dir(environ) / ".pi" / "agent"
    if chosen == "~" or chosen.startswith(("~/", "~" + os.sep)):
        return home_dir(environ) / chosen[2:]
    return Path(chosen)


def below_home(path: str | os.PathLike[str]) -> str:
    """Return a path for display: one in the user's home folder begins with ``~``."""
    text, home = os.fspath(path), str(home_dir()).rstrip(os.sep)
    return f"~{text[len(home) :]}" if home and f"{text}{os.sep}".startswith(home + os.sep) else text


def make_cache(folder: Path) -> None:
    """Create an agent directory and its folder ``cache`` with mode 700, because the directory contains keys.

    Raises:
        OSError: A folder cannot be created.
    """
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(exist_ok=True)


def absolute(path: str, base_dir: str, home: str) -> str:
    """Return a path that a user wrote, relative to ``base_dir`` or beginning with ``~``, as an absolute path."""
    if path == "~" or path.startswith(("~/", "~" + os.sep)):
        path = os.path.join(home, path[2:])
    return os.path.normpath(os.path.join(base_dir, path))

"""Paths: the user's home folder, pi's own files in it, and paths that users write."""

from __future__ import annotations

import os
from pathlib import Path
from stat import S_ISDIR
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["NO_HOME", "access_problem", "agent_dir", "below_home", "expand_home", "home_dir", "make_cache", "user_name"]

NO_HOME = "/proc/nonexistent"
"""The home folder of a user without one, where nothing is found and nothing can be created, even by root."""


def home_dir(environ: Mapping[str, str] | None = None) -> Path:
    """Return the user's home folder.

    Args:
        environ: Environment variables; by default the process's.
    """
    environ = os.environ if environ is None else environ
    home = environ.get("HOME") or os.path.expanduser("~")  # noqa: PTH111 - Path.home() raises where there is none
    return Path(home if home != "~" else NO_HOME)


def expand_home(path: str | os.PathLike[str]) -> Path:
    """Return a path that a user wrote with a leading ``~`` or ``~name`` expanded; one of an unknown user stays.

    ``Path.expanduser`` raises a ``RuntimeError`` for those.
    """
    return Path(os.path.expanduser(path))  # noqa: PTH111 - see above


def user_name() -> str:
    """Return the name of the user of this process; their number if it has none, as in many containers."""
    if os.name != "posix":
        return os.environ.get("USERNAME", "")
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def access_problem(folder: Path) -> tuple[str, str] | None:
    """Return why the files in a folder cannot be read, and what to do about it; None if they can, or if there are none.

    Args:
        folder: Such as the agent directory; its parents may be the reason, too.
    """
    place = folder
    while not os.access(place, os.R_OK | os.X_OK):
        parent = place.parent
        if parent == place or os.access(parent, os.X_OK):
            break
        place = parent
    try:
        about = place.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"{place} cannot be used: {error.strerror}", "Set PI_CODING_AGENT_DIR to another folder"
    if not S_ISDIR(about.st_mode):  # such as /dev/null, which is the home folder of many services
        return f"{place} cannot be used: it is not a folder", "Set PI_CODING_AGENT_DIR to another folder"
    if os.access(place, os.R_OK | os.X_OK):
        return None
    if os.name != "posix" or about.st_uid == os.getuid():
        return f"{place} cannot be read: its permissions do not allow it", f"Run: chmod u+rwX {_quoted(place)}"
    remedy = f"Run: sudo chown -R {user_name()} {_quoted(place)}"
    return f"{place} cannot be read, because it belongs to another user, as after a run with sudo", remedy


def _quoted(path: Path) -> str:
    from shlex import quote

    return quote(str(path))


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

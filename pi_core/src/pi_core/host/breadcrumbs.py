"""Files that record which plugin is being loaded, to find the one that ended the process.

A plugin that calls ``os._exit``, or crashes in C, would end pi silently at every start. Therefore the name of the
plugin whose code runs is written to a locked file, one for each process and thread. A file without a lock belongs to a
process that died. If files cannot be locked, a file that cannot be removed is in use. ``os._exit`` itself is replaced
meanwhile by a function that names the plugin before it exits, because this process is the one that the user sees.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from threading import get_ident
from typing import TYPE_CHECKING, NoReturn

from pi_core.base.paths import make_cache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["Breadcrumbs"]

_PREFIX = "importing-"
_LONGEST = 1000
_NEW = os.O_RDWR | os.O_CREAT | os.O_TRUNC


@contextmanager
def _naming_exit(plugin: str) -> Iterator[None]:
    """Write which plugin ends the process, if it calls ``os._exit`` in the block; not in its children and threads."""
    leave, caller = os._exit, (os.getpid(), get_ident())
    running = True

    def named_exit(status: int) -> NoReturn:
        if running and (os.getpid(), get_ident()) == caller:
            caller_frame = sys._getframe(1)  # noqa: SLF001 - the documented way to the stack
            place = f"{caller_frame.f_code.co_filename}, line {caller_frame.f_lineno}"
            how = f"Plugin {plugin!r} ended pi while it was loaded: it called os._exit({status!r}) in {place}"
            with suppress(OSError):
                os.write(2, f"Error: {how}. The next start leaves it out.\n".encode(errors="replace"))
        leave(status)

    os._exit = named_exit
    try:
        yield
    finally:
        running = False
        os._exit = leave


class Breadcrumbs:
    """The files of one agent directory. If they cannot be written, crashes are not detected.

    Args:
        cache: The folder of these files.
        is_default: Whether a plugin of this name is pi's own.
    """

    def __init__(self, cache: Path, is_default: Callable[[str], bool] = lambda _plugin: False) -> None:
        self._cache = cache
        self._is_default = is_default
        self._left: dict[str, int] | None = None

    @contextmanager
    def at(self, plugin: str, name: str | None = None) -> Iterator[None]:
        """Record that a plugin's code runs in the block; skipped for pi's own plugins, to save time.

        Args:
            plugin: The plugin's name; for a local extension its path, because two files may have the same name.
            name: What messages call it; by default the same.
        """
        if self._is_default(plugin):
            yield
            return
        path = str(self._cache / f"{_PREFIX}{os.getpid()}-{get_ident()}")
        fd = self._write(path, f"{self.left_behind().get(plugin, 0) + 1} {plugin}")
        try:
            with _naming_exit(name or plugin):
                yield
        finally:
            if fd is not None:
                _remove(path, fd)

    def left_behind(self) -> dict[str, int]:
        """Return the plugins during whose loading a process died, each with the number of consecutive deaths.

        The first call removes the files; the result is cached.
        """
        if self._left is None:
            self._left = self._taken()
        return self._left

    def _taken(self) -> dict[str, int]:
        try:
            with os.scandir(self._cache) as entries:
                paths = [entry.path for entry in entries if entry.name.startswith(_PREFIX)]
        except OSError:
            return {}
        found: dict[str, int] = {}
        for path in paths:
            number, _, plugin = _take(path).partition(" ")
            if number.isdecimal() and plugin:
                found[plugin] = max(int(number), found.get(plugin, 0))
        return found

    def _write(self, path: str, text: str) -> int | None:
        try:
            try:
                fd = os.open(path, _NEW, 0o600)
            except FileNotFoundError:
                make_cache(self._cache)
                fd = os.open(path, _NEW, 0o600)
        except OSError:
            return None
        with suppress(OSError):
            _lock(fd)
            os.write(fd, text.encode(errors="replace"))
        return fd


def _take(path: str) -> str:
    """Return the text of a file and remove the file; an empty text if a running process has locked it."""
    try:
        fd = os.open(path, os.O_RDWR)
    except OSError:
        return ""
    if not _lock(fd):
        os.close(fd)
        return ""
    try:
        text = os.read(fd, _LONGEST).decode(errors="replace")
    except OSError:
        text = ""
    _remove(path, fd)
    return "" if os.path.lexists(path) else text


def _lock(fd: int) -> bool:
    """Lock a file until it is closed. Return False if another process has locked it; True if locks do not exist."""
    try:
        import fcntl

        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return True
    return True


def _remove(path: str, fd: int) -> None:
    """Remove a file, then close it; in the reverse order another process might find it without a lock."""
    try:
        os.unlink(path)  # noqa: PTH108
    except OSError:  # Windows cannot remove an open file
        os.close(fd)
        with suppress(OSError):
            os.unlink(path)  # noqa: PTH108
    else:
        os.close(fd)

"""Which plugin was being loaded when a process died.

``os._exit``, or a crash in C, ends pi without a word, at each start again. So the name of the plugin whose code runs is
in a file meanwhile, one file for each process, which holds the file's lock. A file without a lock was left behind.
Where files cannot be locked, a file that cannot be removed is in use.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from threading import get_ident
from typing import TYPE_CHECKING

from pi_core.base.paths import make_cache
from pi_core.host.records import DEFAULT_PLUGINS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Breadcrumbs"]

_PREFIX = "importing-"
_LONGEST = 1000
_NEW = os.O_RDWR | os.O_CREAT | os.O_TRUNC


class Breadcrumbs:
    """The files of one agent directory. Where they cannot be written, pi does without.

    Args:
        cache: The folder of these files.
    """

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._left: dict[str, int] | None = None

    @contextmanager
    def at(self, plugin: str) -> Iterator[None]:
        """Say that a plugin's code runs in the block; nothing of pi's own plugins, so that they cost nothing.

        Args:
            plugin: Its name; of a local extension its file, because names of files change hands.
        """
        if plugin in DEFAULT_PLUGINS:
            yield
            return
        path = str(self._cache / f"{_PREFIX}{os.getpid()}-{get_ident()}")
        fd = self._write(path, f"{self.left_behind().get(plugin, 0) + 1} {plugin}")
        try:
            yield
        finally:
            if fd is not None:
                _remove(path, fd)

    def left_behind(self) -> dict[str, int]:
        """Return the plugins that processes died in, each with how many did so in a row.

        The files are removed when this is first asked, and what they say is remembered.
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
    """Return what a file says and remove it; an empty text where a living process has it."""
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
    """Lock a file until it is closed; False when another process has it. True where the system has no such locks."""
    try:
        import fcntl

        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return True
    return True


def _remove(path: str, fd: int) -> None:
    """Remove a file and close it: in this order, else another process may find it without a lock."""
    try:
        os.unlink(path)  # noqa: PTH108
    except OSError:  # Windows removes no open file
        os.close(fd)
        with suppress(OSError):
            os.unlink(path)  # noqa: PTH108
    else:
        os.close(fd)

"""Which plugin ended the process: files that record what is being loaded, and trial loading in another process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from secrets import token_hex
from tempfile import TemporaryFile
from threading import get_ident
from typing import TYPE_CHECKING, NoReturn

from pi_core.base.paths import make_cache
from pi_core.host.records import DEFAULT_PLUGINS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["Breadcrumbs", "crash_of"]

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
            how = f"Plugin {plugin!r} ended pi while it was loaded: it called os._exit({status!r})"
            with suppress(OSError):
                os.write(2, f"Error: {how}. The next start leaves it out.\n".encode())
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
    """

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._left: dict[str, int] | None = None

    @contextmanager
    def at(self, plugin: str) -> Iterator[None]:
        """Record that a plugin's code runs in the block; skipped for pi's own plugins, to save time.

        Args:
            plugin: The plugin's name; for a local extension its path, because two files may have the same name.
        """
        if plugin in DEFAULT_PLUGINS:
            yield
            return
        path = str(self._cache / f"{_PREFIX}{os.getpid()}-{get_ident()}")
        fd = self._write(path, f"{self.left_behind().get(plugin, 0) + 1} {plugin}")
        try:
            with _naming_exit(plugin):
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


_PROGRAM = """
import os, sys
mark, value, *sys.path[:] = sys.argv[1:]
stdout = os.dup(1)
from importlib.metadata import EntryPoint
from pathlib import Path
from pi_core.host.extensions.loading import load
from pi_core.host import PluginHost
from pi_core.settings import Settings
host = PluginHost(Settings.in_memory({}, os.devnull), installed=False)
try:
    is_file = value.endswith(".py")
    host.add(load(Path(value), "plugin") if is_file else EntryPoint("plugin", value, "pi").load(), "plugin")
except BaseException:
    pass
os.write(stdout, mark.encode())
os._exit(0)
"""


def crash_of(value: str, paths: Sequence[str], seconds: float) -> str | None:
    """Return how loading a plugin ended the other process, such as ``exit code 5``; None if it did not.

    An exception is ignored, because pi reports it when it loads the plugin itself.

    Args:
        value: The plugin: ``module`` or ``module:attribute`` as in entry points, or the path of a Python file.
        paths: The import path.
        seconds: The deadline.
    """
    mark = token_hex()
    with TemporaryFile() as output:  # reading a pipe would wait for every process that the plugin started
        process = subprocess.Popen(  # noqa: S603 - the installed plugin that is about to be loaded
            [sys.executable, "-P", "-c", _PROGRAM, mark, value, *paths],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.DEVNULL,
        )
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return f"no end within {seconds:g} s"
        output.seek(0)
        if output.read().endswith(mark.encode()):
            return None
    return f"exit code {code}" if code >= 0 else _signal_name(-code)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

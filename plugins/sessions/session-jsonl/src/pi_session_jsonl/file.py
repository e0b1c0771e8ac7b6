"""An open session file: reads it at once, and appends atomic lines.

Each call makes one ``write`` at the end of the file, even if other programs append meanwhile. After an unfinished line
the next one begins on a new line.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from pi_session_jsonl.lock import try_lock

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["SessionFile"]

_FLAGS = os.O_APPEND | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_PRIVATE_FILE = 0o600


class SessionFile:
    """An open file of lines.

    Attributes:
        path: Its path.
        writable: Whether it can be appended to.
        is_new: Whether it was created here and its name is not flushed to disk yet.
        locked: Whether this process has the lock; False when another one does.
        stored: How many lines of the last ``append`` are in the file.
    """

    def __init__(self, path: Path, fd: int, *, writable: bool = True, new: bool = False) -> None:
        self.path = path
        self.fd = fd
        self.writable = writable
        self.locked = try_lock(fd)
        self.stored = 0
        self.is_new = new
        self._whole_to = 0
        self._unsynced = new

    @classmethod
    def open(cls, path: Path) -> SessionFile:
        """Open an existing file; a read-only file is opened for reading.

        Raises:
            OSError: It cannot be read, or is not a file.
        """
        try:
            opened = cls(path, os.open(path, os.O_RDWR | os.O_NONBLOCK | _FLAGS))
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EROFS, errno.EPERM):
                raise
            opened = cls(path, os.open(path, os.O_RDONLY | os.O_NONBLOCK | _FLAGS), writable=False)
        if not stat.S_ISREG(os.fstat(opened.fd).st_mode):
            opened.close()
            raise OSError(errno.EINVAL, "It is not a file", str(path))
        return opened

    @classmethod
    def create(cls, path: Path) -> SessionFile:
        """Create a file that is readable only by its owner, and its parent folders.

        Raises:
            OSError: A non-empty file exists, or it cannot be created.
        """
        from pi_session_kit.folders import make_folder

        make_folder(path.parent)
        try:
            return cls(path, os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _FLAGS, _PRIVATE_FILE), new=True)
        except FileExistsError:
            if not path.is_file() or path.stat().st_size:
                raise
            return cls.open(path)

    def read(self) -> bytes:
        """Return its content."""
        with io.FileIO(self.fd, closefd=False) as reader:
            reader.seek(0)
            return reader.readall()

    def append(self, lines: Sequence[bytes]) -> None:
        """Write lines, given without their newlines, at the end, in one write.

        Raises:
            OSError: Not all lines could be written; ``stored`` is how many were.
        """
        self.stored = 0
        if not self.writable:
            raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(self.path))
        self._follow()
        while self.stored < len(lines):
            self._write(lines[self.stored :])

    def sync(self) -> None:
        """Flush appended lines to disk, and the name of a new file.

        Raises:
            OSError: The flush failed.
        """
        if not self._unsynced:
            return
        try:
            os.fsync(self.fd)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from error
        if self.is_new:
            _sync_folder(self.path.parent)
            self.is_new = False
        self._unsynced = False

    def discard(self) -> None:
        """Close and delete it; only for a file that was created here and has no acknowledged entries."""
        with suppress(OSError):
            self.path.unlink()
        self.close()

    def close(self) -> None:
        """Close it, and release the lock."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def _write(self, lines: Sequence[bytes]) -> None:
        """Make one write; afterwards ``stored`` is the number of complete lines in the file."""
        size = os.fstat(self.fd).st_size
        prefix = b"" if size == self._whole_to or self._newline_before(size) else b"\n"
        data = prefix + b"\n".join(lines) + b"\n"
        try:
            written = os.write(self.fd, data)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from error
        self._unsynced = True
        end = os.lseek(self.fd, 0, os.SEEK_CUR)
        begin = end - written
        # Another program may have been killed in the middle of a line since the check: text appended to that is lost.
        if begin == size or prefix or self._newline_before(begin):
            self.stored += _whole_lines(lines, written - len(prefix))
        self._whole_to = end if written == len(data) else 0

    def _newline_before(self, place: int) -> bool:
        if not place:
            return True
        os.lseek(self.fd, place - 1, os.SEEK_SET)
        return os.read(self.fd, 1) == b"\n"

    def _follow(self) -> None:
        """Reopen the file if another one has replaced it; raise if it was removed."""
        now, ours = self.path.stat(), os.fstat(self.fd)
        if (now.st_ino, now.st_dev) == (ours.st_ino, ours.st_dev):
            return
        fd = os.open(self.path, os.O_RDWR | _FLAGS)
        os.close(self.fd)
        self.fd, self._whole_to = fd, 0
        self.locked = try_lock(fd)


def _whole_lines(lines: Sequence[bytes], size: int) -> int:
    """Return how many lines are complete in the first ``size`` bytes; the last newline may be missing."""
    for number, line in enumerate(lines):
        if size < len(line):
            return number
        size -= len(line) + 1
    return len(lines)


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # not every system can open folders
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

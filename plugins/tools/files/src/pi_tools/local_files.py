"""Files of this machine: opened without blocking on devices and pipes, and replaced atomically."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from pi_core import save_file
from pi_hookspecs import UserError
from pi_tools.failure import ToolFailure
from pi_tools.threads import finish

if TYPE_CHECKING:
    from typing import BinaryIO

__all__ = [
    "EDIT_LIMIT",
    "LocalEditOperations",
    "LocalWriteOperations",
    "kind_of",
    "open_regular",
    "read_regular",
    "replace_file",
]

EDIT_LIMIT = 64 * 1024 * 1024
"""Bytes of the largest file that ``edit`` takes: it has old and new text in memory, and compares them."""

_CHUNK = 1 << 20

_KINDS = {
    stat.S_IFIFO: "a FIFO (named pipe)",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
    stat.S_IFSOCK: "a socket",
}


def kind_of(mode: int) -> str | None:
    """Return the kind of a special file; None for a regular file or a directory."""
    return _KINDS.get(stat.S_IFMT(mode))


def open_regular(path: str) -> tuple[BinaryIO, os.stat_result]:
    """Open a regular file for reading.

    Raises:
        ToolFailure: It is a device, FIFO or socket, whose reading may never end.
        OSError: The system refused; ``IsADirectoryError`` for a directory.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | _binary())
    try:
        status = os.fstat(descriptor)
        _require_regular(status.st_mode, "read", path)
        return os.fdopen(descriptor, "rb", buffering=0), status
    except BaseException:
        os.close(descriptor)
        raise


def _binary() -> int:
    return getattr(os, "O_BINARY", 0)


def _require_regular(mode: int, verb: str, path: str) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    kind = kind_of(mode)
    if kind is not None:
        raise ToolFailure(f"Cannot {verb} '{path}': it is {kind}, not a file. Use bash for it, with a timeout.")


def read_regular(path: str, limit: int | None = None) -> bytes:
    """Return the content of a regular file; errors as ``open_regular``.

    Raises:
        OSError: With ``EFBIG`` for a file of more than ``limit`` bytes, of which no more are read.
    """
    file, status = open_regular(path)
    with file:
        if limit is None:
            return file.read() or b""  # None: a special file without data now
        content = bytearray()
        if status.st_size <= limit:  # a file in /proc may be longer than its size
            while len(content) <= limit and (chunk := file.read(_CHUNK)):
                content += chunk
    if max(status.st_size, len(content)) > limit:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    return bytes(content)


def replace_file(path: str, content: bytes) -> None:
    """Replace a file's content, atomically wherever the system can do that.

    Raises:
        ToolFailure: It is a device, FIFO or socket; or writing in place failed half way, and the
            message says where the old content is.
        OSError: The system refused; the file is unchanged.
    """
    with suppress(FileNotFoundError):
        _require_regular(os.stat(path).st_mode, "write", path)
    try:
        save_file(path, content)
    except UserError as error:
        raise ToolFailure(str(error)) from error


class LocalWriteOperations:
    """``write`` on this machine."""

    async def mkdir(self, path: str) -> None:
        """Make the directory and its parents."""
        await finish(_make_directories, path)

    async def write_file(self, path: str, content: bytes) -> None:
        """Create or replace the file, atomically."""
        await finish(replace_file, path, content)


def _make_directories(path: str) -> None:
    """Make a directory and its parents, however many; ``os.makedirs`` calls itself for each."""
    missing = []
    while not os.path.isdir(path):
        with suppress(FileNotFoundError):
            os.lstat(path)  # a name too long, or below a file: nothing is made
        missing.append(path)
        path = os.path.dirname(path)
    for folder in reversed(missing):
        try:
            os.mkdir(folder)
        except FileExistsError:
            if not os.path.isdir(folder):
                raise


class LocalEditOperations:
    """``edit`` on this machine."""

    async def access(self, path: str) -> None:
        """Return if the file can be read and written."""
        await finish(_access, path)

    async def read_file(self, path: str) -> bytes:
        """Return the whole content; ``EFBIG`` for more than ``EDIT_LIMIT`` bytes."""
        return await finish(read_regular, path, EDIT_LIMIT)

    async def write_file(self, path: str, content: bytes) -> None:
        """Replace the file, atomically."""
        await finish(replace_file, path, content)


def _access(path: str) -> None:
    os.stat(path)
    if not os.access(path, os.R_OK | os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

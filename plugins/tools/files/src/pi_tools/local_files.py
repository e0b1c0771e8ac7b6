"""Files of this machine: opened without blocking on devices and pipes, and replaced atomically."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING

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
    """Replace a file's content atomically.

    The content goes to a new file next to the old one, which is renamed over it; a link's target is
    replaced, not the link, and mode, owner and extended attributes stay. Where no such renaming can be (the
    directory is closed, the file is a mount point or belongs to somebody else) or the file has
    several names, it is written in place after the old content was saved next to it.

    Raises:
        ToolFailure: It is a device, FIFO or socket; or writing in place failed half way, and the
            message says where the old content is.
        OSError: The system refused; the file is unchanged.
    """
    target = os.path.realpath(path)
    try:
        status = os.stat(target)
    except FileNotFoundError:
        _rename_over(target, content, None)
        return
    _require_regular(status.st_mode, "write", path)
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    if status.st_nlink == 1:
        try:
            _rename_over(target, content, status)
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EBUSY, errno.EXDEV, errno.EROFS):
                raise
        else:
            return
    _write_in_place(target, content)


def _new_sibling(target: str) -> tuple[int, str]:
    folder, name = os.path.split(target)
    return tempfile.mkstemp(prefix=f".{_short(name)}.", suffix=".pi-tmp", dir=folder)


def _short(name: str) -> str:
    """Return the beginning of a name, in bytes: with prefix and suffix it fits the system's limit."""
    return os.fsencode(name)[:100].decode("utf-8", "ignore")


def _rename_over(target: str, content: bytes, old: os.stat_result | None) -> None:
    descriptor, fresh = _new_sibling(target)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            _keep_attributes(file.fileno(), target, old)
            os.fsync(file.fileno())  # a full disk is detected here, and a power cut cannot leave an empty file
        os.replace(fresh, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(fresh)
        raise


def _keep_attributes(descriptor: int, target: str, old: os.stat_result | None) -> None:
    if not hasattr(os, "fchmod"):
        return
    if old is None:
        os.fchmod(descriptor, 0o666 & ~_umask())
        return
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        os.fchown(descriptor, old.st_uid, old.st_gid)
    for name in _attributes(target):
        with suppress(OSError):  # attributes of the security modules are the system's to set
            os.setxattr(descriptor, name, os.getxattr(target, name))
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def _attributes(path: str) -> list[str]:
    """Return the names of a file's extended attributes; none where they are not supported."""
    with suppress(OSError, AttributeError):
        return os.listxattr(path)
    return []


def _umask() -> int:
    """Return the process's file mode mask, without changing it where the system allows."""
    with suppress(OSError, ValueError), open("/proc/self/status", "rb") as status:
        for line in status:
            if line.startswith(b"Umask:"):
                return int(line.split()[1], 8)
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _write_in_place(target: str, content: bytes) -> None:
    old = read_regular(target)
    saved = _save(target, old)
    try:
        _overwrite(target, content)
    except BaseException as error:
        try:
            _overwrite(target, old)
        except OSError:
            raise ToolFailure(
                f"Writing '{target}' failed half way ({error}), and so did restoring it. "
                f"Its old content is in '{saved}': put it back when the cause is gone."
            ) from error
        os.unlink(saved)
        raise
    os.unlink(saved)


def _save(target: str, old: bytes) -> str:
    """Save the old content next to the file or, in a read-only directory, in the temporary one."""
    try:
        descriptor, saved = _new_sibling(target)
    except OSError:
        descriptor, saved = tempfile.mkstemp(prefix=f"{_short(os.path.basename(target))}.", suffix=".pi-saved")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(old)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):
            os.unlink(saved)
        raise
    return saved


def _overwrite(target: str, content: bytes) -> None:
    """Write over the old content before cutting the rest: the blocks of the file are already allocated."""
    with open(target, "r+b", buffering=0) as file:
        view = memoryview(content)
        while view:
            view = view[file.write(view) :]
        file.truncate(len(content))
        os.fsync(file.fileno())


class LocalWriteOperations:
    """``write`` on this machine."""

    async def mkdir(self, path: str) -> None:
        """Make the directory and its parents."""
        await finish(_make_directories, path)

    async def write_file(self, path: str, content: bytes) -> None:
        """Create or replace the file, atomically."""
        await finish(replace_file, path, content)


def _make_directories(path: str) -> None:
    os.makedirs(path, exist_ok=True)


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

"""File access of tools that run in pi's own process, under the sandbox's policy.

A path is resolved and checked once, and then opened folder by folder without following links: if one of the model's
commands replaces a folder with a link in between, the tool gets an error.
"""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from pi_sandbox.parents import ParentFolder

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_sandbox.policy import Policy

__all__ = ["SandboxedFiles"]

_FILE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_EDIT_LIMIT = 64 * 1024 * 1024
"""Maximum size in bytes of a file that is read whole, as ``edit`` does."""


class SandboxedFiles:
    """Implements the operations of ``read``, ``edit`` and ``write``.

    Args:
        policy: What may be read and changed.
        changes: Whether the tool changes what it reads.
    """

    def __init__(self, policy: Policy, *, changes: bool) -> None:
        self._policy = policy
        self._changes = changes

    async def access(self, path: str) -> None:
        """Return if the file can be read, and changed where the tool does that."""
        await asyncio.to_thread(self._access, path)

    async def read_file(self, path: str) -> bytes:
        """Return the content."""
        return await asyncio.to_thread(self._read, path)

    async def mkdir(self, path: str) -> None:
        """Make the folder and its parents."""
        await asyncio.to_thread(self._mkdir, path)

    async def write_file(self, path: str, content: bytes) -> None:
        """Create or replace the file, atomically."""
        await asyncio.to_thread(self._write, path, content)

    def _access(self, path: str) -> None:
        os.close(self._open(path))
        if self._changes:
            _allowed(self._policy.refused_write, path)

    def _open(self, path: str) -> int:
        """Return the descriptor of a regular file."""
        with ParentFolder(_allowed(self._policy.refused_read, path)) as parent:
            descriptor = os.open(parent.name, os.O_RDONLY | _FILE, dir_fd=parent.descriptor)
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISREG(mode):
            return descriptor
        os.close(descriptor)
        number = errno.EISDIR if stat.S_ISDIR(mode) else errno.EACCES
        raise OSError(number, os.strerror(number) if number == errno.EISDIR else "not a regular file", path)

    def _read(self, path: str) -> bytes:
        with os.fdopen(self._open(path), "rb") as file:
            content = file.read(_EDIT_LIMIT + 1)
        if len(content) > _EDIT_LIMIT:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
        return content

    def _mkdir(self, path: str) -> None:
        real = _allowed(self._policy.refused_write, path) if not os.path.isdir(path) else os.path.realpath(path)
        ParentFolder(os.path.join(real, "x"), make=True).close()

    def _write(self, path: str, content: bytes) -> None:
        with ParentFolder(_allowed(self._policy.refused_write, path)) as parent:
            mode = _mode_of(parent)
            fresh = f".{parent.name[:100]}.{secrets.token_hex(4)}.pi-tmp"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FILE
            descriptor = os.open(fresh, flags, 0o666 if mode is None else 0o600, dir_fd=parent.descriptor)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(content)
                    if mode is not None:
                        os.fchmod(file.fileno(), mode)
                os.rename(fresh, parent.name, src_dir_fd=parent.descriptor, dst_dir_fd=parent.descriptor)
            except BaseException:
                with suppress(OSError):
                    os.unlink(fresh, dir_fd=parent.descriptor)
                raise


def _allowed(refused: Callable[[str], str | None], path: str) -> str:
    """Return the path with all links resolved.

    Raises:
        PermissionError: The policy refuses it; the message says why.
    """
    real = os.path.realpath(path)
    reason = refused(real)
    if reason is not None:
        raise PermissionError(errno.EACCES, reason, path)
    return real


def _mode_of(parent: ParentFolder) -> int | None:
    """Return the permissions of the file that is to be replaced; None for a new one."""
    try:
        status = os.stat(parent.name, dir_fd=parent.descriptor, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        number = errno.EISDIR if stat.S_ISDIR(status.st_mode) else errno.EACCES
        raise OSError(number, os.strerror(number), parent.name)
    return stat.S_IMODE(status.st_mode)

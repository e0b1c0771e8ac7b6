"""Replaces whole files: a reader, or a start after a crash, finds either the old content or the new one."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from pi_hookspecs import UserError, WrongUse

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["check_output_file", "replace_file", "save_file", "write_output_file"]

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_LONGEST_NAME = 100
"""Bytes of a file's name in the name of its draft, which so fits the system's limit."""


def replace_file(
    file: str | os.PathLike[str],
    content: bytes | Iterable[bytes],
    *,
    mode: int = 0o666,
    keep: bool = True,
    durable: bool = True,
) -> None:
    """Replace a file's content atomically: it goes to a new file in the same folder, which is renamed over the old one.

    The target of a symbolic link is replaced, not the link.

    Args:
        file: The file; its folder exists.
        content: The new content, whole or in parts.
        mode: Permissions of a created file, less the process's umask.
        keep: Whether an existing file keeps its permissions, its extended attributes and, where the system allows it,
            its owner. If ``mode`` grants nothing to group and others, they still lose the permission to write.
        durable: Whether the content is on the disk when this returns. A cache, which can be rebuilt, need not wait.

    Raises:
        OSError: The system refused; the file is unchanged.
    """
    target = os.path.realpath(file)
    old: os.stat_result | None = None
    if keep:
        with suppress(FileNotFoundError):
            old = os.stat(target)
    _rename_over(target, content, old, mode=mode, durable=durable, any_owner=True)


def save_file(file: str | os.PathLike[str], content: bytes) -> None:
    """Replace the content of a user's file, which keeps its permissions, owner, extended attributes and hard links.

    Works like ``replace_file`` if that is possible. If it is not (the folder is not writable, the file is a mount
    point or belongs to another user), or if the file has several names, it is written in place, after the old
    content was saved in the same folder.

    Raises:
        UserError: Writing in place failed half way; the message says where the old content is.
        OSError: The system refused; the file is unchanged.
    """
    target = os.path.realpath(file)
    try:
        old = os.stat(target)
    except FileNotFoundError:
        _rename_over(target, content, None)
        return
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(file))
    if old.st_nlink == 1:
        try:
            _rename_over(target, content, old)
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EBUSY, errno.EXDEV, errno.EROFS):
                raise
        else:
            return
    _write_in_place(target, content)


def check_output_file(option: str, file: Path) -> None:
    """Refuse a file that an option names and that cannot be written, before anything is spent.

    Raises:
        WrongUse: The file is a folder, or its folder does not exist.
    """
    if file.is_dir() or not file.absolute().parent.is_dir():
        raise WrongUse(f"{option} {str(file)!r} cannot be written: its folder does not exist, or it is a folder itself")


def write_output_file(file: Path, content: bytes) -> None:
    """Write a command's result to the file that an option names; a device or a pipe is written to, not replaced.

    Raises:
        UserError: It cannot be written.
    """
    try:
        if file.exists() and not file.is_file():
            file.write_bytes(content)
        else:
            replace_file(file, content)
    except OSError as error:
        raise UserError(f"The result cannot be written to {str(file)!r}: {error.strerror or error}") from error


def _rename_over(
    target: str,
    content: bytes | Iterable[bytes],
    old: os.stat_result | None,
    *,
    mode: int = 0o666,
    durable: bool = True,
    any_owner: bool = False,
) -> None:
    descriptor, draft = _new_file(*os.path.split(target), ".pi-tmp", mode if old is None else 0o600)
    try:
        with os.fdopen(descriptor, "wb") as new:
            new.writelines((content,) if isinstance(content, bytes) else content)
            new.flush()
            if old is not None:
                _keep_attributes(descriptor, target, old, mode, any_owner=any_owner)
            if durable:
                os.fsync(descriptor)  # a full disk is detected here, and a power cut cannot leave an empty file
        os.replace(draft, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise


def _new_file(folder: str, name: str, suffix: str, mode: int) -> tuple[int, str]:
    """Create a hidden file whose name begins as another's; return its descriptor and its path."""
    short = os.fsencode(name)[:_LONGEST_NAME].decode("utf-8", "ignore")
    path = os.path.join(folder, f".{short}.{os.urandom(6).hex()}{suffix}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    return os.open(path, flags, mode), path


def _keep_attributes(descriptor: int, target: str, old: os.stat_result, mode: int, *, any_owner: bool) -> None:
    if not hasattr(os, "fchmod"):  # Windows
        return
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.fchown(descriptor, old.st_uid, old.st_gid)
        except PermissionError:
            if not any_owner:
                raise
    for name in _attributes(target):
        with suppress(OSError):  # attributes of the security modules are the system's to set
            os.setxattr(descriptor, name, os.getxattr(target, name))
    before = stat.S_IMODE(old.st_mode)
    os.fchmod(descriptor, before if mode & _OTHERS else before & ~_OTHERS_WRITE)


def _attributes(path: str) -> list[str]:
    """Return the names of a file's extended attributes; none where they are not supported."""
    with suppress(OSError, AttributeError):
        return os.listxattr(path)
    return []


def _write_in_place(target: str, content: bytes) -> None:
    with open(target, "rb") as file:
        old = file.read()
    saved = _save(target, old)
    try:
        _overwrite(target, content)
    except BaseException as error:
        try:
            _overwrite(target, old)
        except OSError:
            raise UserError(
                f"Writing '{target}' failed halfway ({error}), and restoring it failed too. "
                f"Its old content is in '{saved}': move it back when the cause is fixed."
            ) from error
        os.unlink(saved)
        raise
    os.unlink(saved)


def _save(target: str, old: bytes) -> str:
    """Save the old content in the file's folder or, if that is read-only, in the temporary one."""
    folder, name = os.path.split(target)
    try:
        descriptor, saved = _new_file(folder, name, ".pi-tmp", 0o600)
    except OSError:
        from tempfile import gettempdir  # rare, and slow to import

        descriptor, saved = _new_file(gettempdir(), name, ".pi-saved", 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(old)
            file.flush()
            os.fsync(descriptor)
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

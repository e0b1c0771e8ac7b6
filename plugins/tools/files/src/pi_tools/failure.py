"""Failures of tool calls: messages for the model, and system errors in Node's format, as the original pi has them."""

from __future__ import annotations

import errno
import os

from pi_hookspecs.errors import PiError

__all__ = ["ToolFailure", "code_of", "system_failure"]

_MESSAGES = {
    errno.EACCES: "permission denied",
    errno.EBUSY: "resource busy or locked",
    errno.EEXIST: "file already exists",
    errno.EFBIG: "file too large",
    errno.EINVAL: "invalid argument",
    errno.EIO: "i/o error",
    errno.EISDIR: "illegal operation on a directory",
    errno.ELOOP: "too many symbolic links encountered",
    errno.EMFILE: "too many open files",
    errno.ENAMETOOLONG: "name too long",
    errno.ENFILE: "file table overflow",
    errno.ENOENT: "no such file or directory",
    errno.ENOMEM: "not enough memory",
    errno.ENOSPC: "no space left on device",
    errno.ENOTDIR: "not a directory",
    errno.ENOTEMPTY: "directory not empty",
    errno.EPERM: "operation not permitted",
    errno.EROFS: "read-only file system",
    errno.ETXTBSY: "text file is busy",
    errno.EXDEV: "cross-device link not permitted",
}


class ToolFailure(PiError):
    """A call that failed in a way the model can act on; the message is written for it."""


def code_of(error: OSError) -> str:
    """Return the error's symbolic name, as ``ENOENT``."""
    return errno.errorcode.get(error.errno or 0, "UNKNOWN")


def system_failure(error: OSError, call: str, path: str | None = None) -> ToolFailure:
    """Return the failure for a system error, as ``ENOENT: no such file or directory, open '/abs/path'``.

    Args:
        error: The system's error.
        call: The operation that failed: ``access``, ``open``, ``read``, ``mkdir``.
        path: The absolute path; None to leave it out.
    """
    text = _MESSAGES.get(error.errno or 0) or os.strerror(error.errno or 0).lower()
    subject = "" if path is None else f" '{path}'"
    return ToolFailure(f"{code_of(error)}: {text}, {call}{subject}")

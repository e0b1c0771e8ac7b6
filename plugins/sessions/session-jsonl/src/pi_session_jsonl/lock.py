"""Detects other processes that use a session file, with a lock on the file itself, which ends with the process.

It is advisory: other programs do not use it, and pi appends without it, too.
"""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["holder_of", "try_lock"]


def try_lock(fd: int) -> bool:
    """Take the lock of an open file until it is closed; False when another process has it.

    Where files cannot be locked, as on Windows and some network file systems, it is always free.
    """
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def holder_of(fd: int) -> int | None:
    """Return the process that has the lock of an open file; None if that is unknown (all systems but Linux)."""
    inode = str(os.fstat(fd).st_ino)
    try:
        rows = [row.split() for row in Path("/proc/locks").read_text(encoding="ascii").splitlines()]
    except (OSError, ValueError):
        return None
    for row in rows:  # 1: FLOCK ADVISORY WRITE 4711 fd:00:1234 0 EOF
        if row[1:2] == ["FLOCK"] and row[5].rpartition(":")[2] == inode and int(row[4]) > 0:
            return int(row[4])
    return None

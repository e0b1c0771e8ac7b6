"""Who works on a session file: a lock on the file itself, so that nothing is left behind when a process dies.

It hinders nobody: other programs do not know it, and we append without it too. It is there to be noticed.
"""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["holder_of", "try_lock"]


def try_lock(fd: int) -> bool:
    """Take the lock of an open file until it is closed; False when somebody else has it.

    Where files cannot be locked, as on Windows and some network file systems, nobody ever has it.
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
    """Return the process that has the lock of an open file; None where the system does not tell (all but Linux)."""
    inode = str(os.fstat(fd).st_ino)
    try:
        rows = [row.split() for row in Path("/proc/locks").read_text(encoding="ascii").splitlines()]
    except (OSError, ValueError):
        return None
    for row in rows:  # 1: FLOCK ADVISORY WRITE 4711 fd:00:1234 0 EOF
        if row[1:2] == ["FLOCK"] and row[5].rpartition(":")[2] == inode and int(row[4]) > 0:
            return int(row[4])
    return None

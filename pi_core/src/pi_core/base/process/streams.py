"""stdin, stdout and stderr as descriptors: whoever starts a process may have closed any of them.

For front ends, which own the process.
"""

from __future__ import annotations

import os

__all__ = ["copy_of", "is_open"]


def is_open(descriptor: int) -> bool:
    """Return whether a descriptor is one."""
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def copy_of(descriptor: int, flags: int) -> int:
    """Return a copy of a descriptor; where it is closed, one of nothing, opened with the flags."""
    return os.dup(descriptor) if is_open(descriptor) else os.open(os.devnull, flags)

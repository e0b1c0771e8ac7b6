"""stdin, stdout and stderr as descriptors, any of which may be closed when the process starts.

For front ends, which own the process.
"""

from __future__ import annotations

import os

__all__ = ["copy_of", "is_open"]


def is_open(descriptor: int) -> bool:
    """Return whether a descriptor is open."""
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def copy_of(descriptor: int, flags: int) -> int:
    """Return a duplicate of a descriptor; if it is closed, one of ``os.devnull``, opened with the flags."""
    return os.dup(descriptor) if is_open(descriptor) else os.open(os.devnull, flags)

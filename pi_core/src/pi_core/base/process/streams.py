"""The descriptors of stdin, stdout and stderr, any of which may be closed when the process starts.

For front ends, which own the process.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, redirect_stdout, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["copy_of", "is_open", "own_streams", "print_warning"]


def is_open(descriptor: int) -> bool:
    """Return whether a descriptor is open."""
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def copy_of(descriptor: int, flags: int) -> int:
    """Return a duplicate of a descriptor; if it is closed, a descriptor of ``os.devnull``, opened with the flags."""
    return os.dup(descriptor) if is_open(descriptor) else os.open(os.devnull, flags)


@contextmanager
def own_streams() -> Iterator[tuple[int, int]]:
    """Reserve stdin and stdout for a protocol inside the block, and yield their descriptors.

    Output of plugins and of the programs that they start goes to stderr, and stdin is empty for them, whether they use
    Python's streams or the descriptors.
    """
    sys.stdout.flush()
    mine = (copy_of(0, os.O_RDONLY), copy_of(_stdout(), os.O_WRONLY))
    before = copy_of(1, os.O_WRONLY)
    nothing = os.open(os.devnull, os.O_RDWR)
    try:
        os.dup2(nothing, 0)
        os.dup2(2 if is_open(2) else nothing, 1)
        with redirect_stdout(sys.stderr):
            yield mine
    finally:
        with suppress(OSError):
            sys.stdout.flush()
        os.dup2(mine[0], 0)  # and stays open, because a thread may still read it
        os.dup2(before, 1)
        for descriptor in (mine[1], before, nothing):
            os.close(descriptor)


def _stdout() -> int:
    """Return the descriptor of stdout, even if the program has redirected other output."""
    try:
        return sys.stdout.fileno()
    except (AttributeError, OSError, ValueError):  # not a stream of the process
        return 1


def print_warning(message: str) -> None:
    """Print a warning on one line to stderr, for people, while stdout is a protocol's."""
    if sys.stderr is not None:
        print(f"Warning: {' '.join(message.split())}", file=sys.stderr, flush=True)  # noqa: T201 - as above

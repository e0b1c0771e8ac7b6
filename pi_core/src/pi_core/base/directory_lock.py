"""An inter-process lock on a file: a directory next to it, whose modification time is refreshed while it is held.

The TypeScript pi locks ``auth.json`` in the same way: the process that creates ``auth.json.lock`` holds the lock,
touches it while working, and removes it afterwards. A lock that has not been touched for 30 seconds is stale, because
its process has died.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING

from pi_hookspecs import PiError, UserError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

__all__ = ["brief_directory_lock", "directory_lock"]

STALE_SECONDS = 30.0
_BRIEF_STALE_SECONDS = 15.0
"""A briefly held lock is stale after this time; a lock that is held for long is touched more often than that."""

_TOUCH_SECONDS = 10.0
_MAX_PAUSE = 1.0
_BRIEF_PAUSE = 0.02


@asynccontextmanager
async def directory_lock(file: Path, wait_seconds: float = 60.0) -> AsyncIterator[None]:
    """Hold the lock of a file.

    Raises:
        PiError: Another process held the lock until ``wait_seconds`` had passed, or took it over during the block.
        UserError: The folder cannot be written to.
    """
    lock = file.with_name(f"{file.name}.lock")
    await _acquire(lock, wait_seconds)
    heartbeat = _Heartbeat(lock)
    try:
        yield
        heartbeat.check()
    finally:
        heartbeat.stop()
        if not heartbeat.lost:
            with suppress(OSError):
                lock.rmdir()


@contextmanager
def brief_directory_lock(file: Path, wait_seconds: float = 20.0) -> Iterator[None]:
    """Hold the lock of a file briefly, without refreshing it; the block must not await anything.

    If a process is killed while it holds the lock, other processes are delayed, but do not fail.

    Raises:
        PiError: Another process held it until ``wait_seconds`` had passed.
        UserError: The folder cannot be written to.
    """
    lock = file.with_name(f"{file.name}.lock")
    deadline = time.monotonic() + wait_seconds
    while not _try_create(lock):
        if not _break_stale(lock, _BRIEF_STALE_SECONDS):
            _check_deadline(lock, deadline, wait_seconds)
            time.sleep(_BRIEF_PAUSE * random.uniform(0.5, 1.0))  # noqa: S311 - as below
    try:
        yield
    finally:
        with suppress(OSError):
            lock.rmdir()


def _check_deadline(lock: Path, deadline: float, wait_seconds: float) -> None:
    if time.monotonic() > deadline:
        message = (
            f"{str(lock)!r} has been held by another process for {wait_seconds:g} s."
            " If no other pi is running, remove that directory."
        )
        raise PiError(message)


async def _acquire(lock: Path, wait_seconds: float) -> None:
    pause, deadline = 0.02, time.monotonic() + wait_seconds
    while not _try_create(lock):
        if _break_stale(lock):
            continue
        _check_deadline(lock, deadline, wait_seconds)
        await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 - jitter, not a secret
        pause = min(pause * 2, _MAX_PAUSE)


def _try_create(lock: Path) -> bool:
    try:
        lock.mkdir(mode=0o700)
    except FileExistsError:
        return False
    except OSError as error:
        message = f"The lock {str(lock)!r} cannot be created ({error.strerror}). Make its folder writable."
        raise UserError(message) from error
    return True


def _break_stale(lock: Path, seconds: float = STALE_SECONDS) -> bool:
    """Remove a stale lock; return True if the lock is gone."""
    try:
        stale = lock.stat()
        if time.time() - stale.st_mtime < seconds:
            return False
        # Only one of several waiters can rename it. If another process has locked the file again, the lock is moved
        # back.
        moved = lock.with_name(f"{lock.name}.{os.getpid()}.{random.getrandbits(32):08x}")
        lock.rename(moved)
        if moved.stat().st_ino != stale.st_ino:
            moved.rename(lock)
            return False
        with suppress(OSError):  # not empty, or a file: renaming it was enough
            moved.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


class _Heartbeat:
    """Refreshes a lock while it is held, and detects whether another process has taken it."""

    def __init__(self, lock: Path) -> None:
        self._lock = lock
        self._touched_at = self._touch()
        self.lost = False
        self._timer = asyncio.get_running_loop().call_later(_TOUCH_SECONDS, self._beat)

    def check(self) -> None:
        """Raise ``PiError`` if another process has taken the lock."""
        try:
            intact = not self.lost and self._lock.stat().st_mtime_ns == self._touched_at
        except OSError:
            intact = False
        if not intact:
            self.lost = True
            message = f"Another process took the lock {str(self._lock)!r} while this one held it."
            raise PiError(message)

    def stop(self) -> None:
        self._timer.cancel()

    def _beat(self) -> None:
        with suppress(PiError):
            self.check()
            self._touched_at = self._touch()
            self._timer = asyncio.get_running_loop().call_later(_TOUCH_SECONDS, self._beat)

    def _touch(self) -> int:
        os.utime(self._lock)
        return self._lock.stat().st_mtime_ns

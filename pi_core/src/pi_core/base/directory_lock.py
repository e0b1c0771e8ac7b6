"""A lock that other programs hold too: a directory beside the file, kept fresh by its modification time.

pi's own lock, as for ``auth.json``: whoever makes ``auth.json.lock`` has it, touches it while he works, and
removes it. One that was not touched for half a minute belongs to a process that died.
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
_TOUCH_SECONDS = 10.0
_LONGEST_PAUSE = 1.0
_BRIEF_PAUSE = 0.02


@asynccontextmanager
async def directory_lock(file: Path, wait_seconds: float = 60.0) -> AsyncIterator[None]:
    """Hold the lock of a file.

    Raises:
        PiError: Somebody else held it all the time, or took it away while we held it.
        UserError: The folder cannot be written to.
    """
    lock = file.with_name(f"{file.name}.lock")
    await _acquire(lock, wait_seconds)
    keeper = _Keeper(lock)
    try:
        yield
        keeper.check()
    finally:
        keeper.stop()
        if not keeper.lost:
            with suppress(OSError):
                lock.rmdir()


@contextmanager
def brief_directory_lock(file: Path, wait_seconds: float = 5.0) -> Iterator[None]:
    """Hold the lock of a file while it is replaced: no time to keep it fresh, and nothing to wait for inside.

    Raises:
        PiError: Somebody else held it all the time.
        UserError: The folder cannot be written to.
    """
    lock = file.with_name(f"{file.name}.lock")
    deadline = time.monotonic() + wait_seconds
    while not _made(lock):
        if not _break_stale(lock):
            _check(lock, deadline, wait_seconds)
            time.sleep(_BRIEF_PAUSE * random.uniform(0.5, 1.0))  # noqa: S311 - as below
    try:
        yield
    finally:
        with suppress(OSError):
            lock.rmdir()


def _check(lock: Path, deadline: float, wait_seconds: float) -> None:
    if time.monotonic() > deadline:
        message = (
            f"{str(lock)!r} has been held by another process for {wait_seconds:g} s."
            " If no other pi is running, remove that directory."
        )
        raise PiError(message)


async def _acquire(lock: Path, wait_seconds: float) -> None:
    pause, deadline = 0.02, time.monotonic() + wait_seconds
    while not _made(lock):
        if _break_stale(lock):
            continue
        _check(lock, deadline, wait_seconds)
        await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 - spreads waiters, hides nothing
        pause = min(pause * 2, _LONGEST_PAUSE)


def _made(lock: Path) -> bool:
    try:
        lock.mkdir(mode=0o700)
    except FileExistsError:
        return False
    except OSError as error:
        message = f"{str(lock)!r} cannot be made ({error.strerror}): pi needs to write to that folder."
        raise UserError(message) from error
    return True


def _break_stale(lock: Path) -> bool:
    """Remove a lock that nobody keeps fresh; True when it is gone."""
    try:
        looked_at = lock.stat()
        if time.time() - looked_at.st_mtime < STALE_SECONDS:
            return False
        # Of several waiters only one can move it; when somebody was faster and holds it anew, it goes back.
        grave = lock.with_name(f"{lock.name}.{os.getpid()}.{random.getrandbits(32):08x}")
        lock.rename(grave)
        if grave.stat().st_ino != looked_at.st_ino:
            grave.rename(lock)
            return False
        with suppress(OSError):  # something lies in it, or it is a file: out of the way is enough
            grave.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


class _Keeper:
    """Keeps our lock fresh, and notices when it is ours no longer."""

    def __init__(self, lock: Path) -> None:
        self._lock = lock
        self._mark = self._touch()
        self.lost = False
        self._timer = asyncio.get_running_loop().call_later(_TOUCH_SECONDS, self._keep)

    def check(self) -> None:
        """Raise when somebody took the lock away."""
        try:
            intact = not self.lost and self._lock.stat().st_mtime_ns == self._mark
        except OSError:
            intact = False
        if not intact:
            self.lost = True
            message = f"The lock {str(self._lock)!r} was taken by another process while it was held here."
            raise PiError(message)

    def stop(self) -> None:
        self._timer.cancel()

    def _keep(self) -> None:
        with suppress(PiError):
            self.check()
            self._mark = self._touch()
            self._timer = asyncio.get_running_loop().call_later(_TOUCH_SECONDS, self._keep)

    def _touch(self) -> int:
        os.utime(self._lock)
        return self._lock.stat().st_mtime_ns

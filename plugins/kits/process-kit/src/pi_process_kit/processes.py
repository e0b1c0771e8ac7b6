"""Starts programs so that pi can end them and their descendants: below a supervisor, or in a process group.

On Linux there is the supervisor (``supervised``). On other systems (``grouped``), a program leads a separate process
group and session, and it is ended together with its group and all descendants that can be found. There, a process that
left the group and lost its parent survives, and all processes survive if pi itself is killed.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["KILL_WAIT", "Process", "Starter", "starter"]

KILL_WAIT = 5.0
"""Seconds to wait until killed processes are gone; only a process that is stuck in the kernel takes longer."""
_LOOK_EVERY = 0.02


class Process:
    """A started program and its descendants.

    Attributes:
        pid: The program's process id.
        root: The id of the process whose descendants all belong to the program.
        exited: A future with the exit code, 128+n after signal n, and whether descendants are still running.
        gone: A future that is done when no descendant is left.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.pid = 0
        self.root = 0
        self.exited: asyncio.Future[tuple[int, bool]] = loop.create_future()
        self.gone: asyncio.Future[None] = loop.create_future()

    def kill(self) -> None:
        """Kill all processes immediately."""
        raise NotImplementedError

    def drain(self) -> None:
        """Read and discard further output, so that remaining processes can still write it."""

    def release(self) -> None:
        """Let the processes survive the end of pi."""

    def left(self) -> list[str]:
        """Return the process ids and command lines of all processes that are still running."""
        raise NotImplementedError

    async def ended(self, seconds: float = KILL_WAIT) -> bool:
        """Wait until no process is left; return False on timeout."""
        loop = asyncio.get_running_loop()
        if self.gone.get_loop() is loop:
            await asyncio.wait({self.gone}, timeout=seconds)
            return self.gone.done()
        end = loop.time() + seconds  # the loop of the callback may be closed, so poll
        while left := bool(self.left()):
            if loop.time() > end:
                break
            await asyncio.sleep(_LOOK_EVERY)
        return not left

    def _finish(self, code: int, *, left: bool) -> None:
        if not self.exited.done():
            self.exited.set_result((code, left))

    def _leave(self) -> None:
        if not self.gone.done():
            self.gone.set_result(None)


class Starter(Protocol):
    """Starts programs."""

    async def launch(
        self,
        argv: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
        *,
        out: int,
        error: int,
        drain: int,
        stdin: int | None = None,
    ) -> Process:
        """Start a program.

        Args:
            argv: The program's absolute path, and its arguments.
            cwd: The working directory.
            env: The complete environment.
            out: The descriptor of the standard output; the caller keeps ownership and closes it.
            error: The descriptor of the standard error; the caller keeps ownership and closes it.
            drain: The reading end of ``out``, for ``Process.drain``.
            stdin: The descriptor of the standard input, also owned by the caller. None uses the null device.

        Raises:
            OSError: The program cannot be started.
        """
        ...


_starters: dict[int, Starter] = {}
"""The starter of this process, by process id, because a fork of pi must not use pi's socket."""


def starter() -> Starter:
    """Return the starter of this process."""
    pid = os.getpid()
    if pid not in _starters:
        _starters.clear()
        supervised = sys.platform == "linux" and bool(sys.executable) and os.path.isdir("/proc/self")
        _starters[pid] = _supervised() if supervised else _grouped()
    return _starters[pid]


def _supervised() -> Starter:
    from pi_process_kit.supervised import SupervisedStarter

    return SupervisedStarter()


def _grouped() -> Starter:
    from pi_process_kit.grouped import GroupStarter

    return GroupStarter()

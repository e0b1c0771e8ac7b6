"""The descendants of this process: finding, reaping and ending them."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "Tree",
    "become_subreaper",
    "children_of",
    "continue_stopped",
    "descendants",
    "name_process",
    "read_all",
    "wake_on_child",
]

_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15
_PR_SET_CHILD_SUBREAPER = 36
_STOP_ROUNDS = 50


def children_of() -> dict[int, list[int]]:
    """Return all processes by parent, from ``/proc``."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
                children.setdefault(int(fields[1]), []).append(int(name))
    return children


def descendants(root: int) -> list[int]:
    """Return every process below this one, without it."""
    children, found = children_of(), [root]
    for pid in found:
        found += children.get(pid, ())
    return found[1:]


def become_subreaper(name: bytes) -> None:
    """Adopt orphans from now on, under a process name of our own: a command may kill all pythons by name.

    This process is also continued when its parent dies, which can then no longer do that.
    """
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGCONT), 0, 0, 0)
    name_process(name)


def name_process(name: bytes) -> None:
    """Set what ``ps`` and ``/proc/PID/comm`` call this process; at most 15 bytes."""
    import ctypes

    ctypes.CDLL(None).prctl(_PR_SET_NAME, name, 0, 0, 0)


def continue_stopped(children: Iterable[int]) -> None:
    """Continue the children that have stopped since the last call."""
    for pid in children:
        with suppress(OSError):
            if os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG) is not None:
                os.kill(pid, signal.SIGCONT)


def wake_on_child() -> int:
    """Return a descriptor that becomes readable whenever a child ends or is stopped."""
    readable, writable = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    return readable


def read_all(descriptor: int) -> None:
    """Empty a descriptor of ``wake_on_child``."""
    with suppress(BlockingIOError):
        while os.read(descriptor, 4096):
            pass


class Tree:
    """The children of this process: reaps them, and ends them with all descendants."""

    def __init__(self) -> None:
        self.statuses: dict[int, int] = {}

    def reap(self) -> bool:
        """Reap the children that ended; return whether any is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            self.statuses[pid] = status

    def end(self, spare: Sequence[int] = ()) -> None:
        """End everything below, except what is below the spared children."""
        self._stop(spare)
        pause = 0.0005
        while self.reap():
            victims = self._victims(spare)
            if not victims:
                return
            for pid in victims:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(pause)
            pause = min(pause * 2, 0.1)

    def _stop(self, spare: Sequence[int]) -> None:
        """Stop all before any is killed: a stopped process starts no other, so a fork bomb is caught."""
        stopped: set[int] = set()
        for _ in range(_STOP_ROUNDS):
            fresh = [pid for pid in self._victims(spare) if pid not in stopped]
            if not fresh:
                return
            for pid in fresh:
                with suppress(OSError):
                    os.kill(pid, signal.SIGSTOP)
            stopped.update(fresh)

    def _victims(self, spare: Sequence[int]) -> list[int]:
        children = children_of()
        found = [pid for pid in children.get(os.getpid(), ()) if pid not in spare]
        for pid in found:
            found += children.get(pid, ())
        return found

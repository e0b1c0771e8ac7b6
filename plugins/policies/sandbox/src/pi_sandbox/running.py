"""Finds the processes of the sandbox that are still running (Linux).

A process is one of them if it has more system call filters than pi, which it cannot get rid of, and was started below
pi; or if its environment names the session's folder for temporary files.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["end_processes", "now_in_ticks", "running"]

_STARTED = 19
"""Position of the start time in /proc/PID/stat, behind the name."""
_ROUNDS = 50
_PAUSE = 0.02


def now_in_ticks() -> int:
    """Return the time as the kernel counts the start of processes; 0 if it does not."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return int(time.clock_gettime(clock) * os.sysconf("SC_CLK_TCK")) if clock is not None else 0


def running(temp: str, since: int, others: Collection[str] = ()) -> list[int]:
    """Return the processes of a session's sandbox.

    Args:
        temp: The session's folder for temporary files.
        since: When the session began, see ``now_in_ticks``.
        others: The same as ``temp`` of other sessions in this process, whose processes are left out.
    """
    if not os.path.isdir("/proc/self"):
        return []
    own = os.getpid()
    parents, started = _processes(since)
    below, filters = _below(own, parents), _filters(own)
    return [pid for pid in started if pid != own and _is_of(pid, pid in below, filters, temp, others)]


def end_processes(temp: str, since: int, others: Collection[str]) -> None:
    """Kill the processes of a session's sandbox, with what they start meanwhile."""
    for _ in range(_ROUNDS):
        left = running(temp, since, others)
        if not left:
            return
        for pid in left:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_PAUSE)


def _is_of(pid: int, below: bool, filters: int, temp: str, others: Collection[str]) -> bool:  # noqa: FBT001 - internal
    environment = _read(pid, "environ")
    if os.fsencode(temp) in environment:
        return True
    return below and _filters(pid) > filters and not any(os.fsencode(other) in environment for other in others)


def _processes(since: int) -> tuple[dict[int, int], list[int]]:
    """Return the parents of all processes that have not ended, and the processes that were started since then."""
    parents, started = {}, []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        fields = _read(int(name), "stat").rpartition(b")")[2].split()
        if len(fields) > _STARTED and fields[0] != b"Z":
            parents[int(name)] = int(fields[1])
            if int(fields[_STARTED]) >= since:
                started.append(int(name))
    return parents, started


def _below(root: int, parents: dict[int, int]) -> set[int]:
    children: dict[int, list[int]] = {}
    for pid, parent in parents.items():
        children.setdefault(parent, []).append(pid)
    found = [root]
    for pid in found:
        found += children.get(pid, ())
    return set(found[1:])


def _filters(pid: int) -> int:
    for line in _read(pid, "status").splitlines():
        if line.startswith(b"Seccomp_filters:"):
            return int(line.split()[1])
    return 0


def _read(pid: int, name: str) -> bytes:
    with suppress(OSError), open(f"/proc/{pid}/{name}", "rb") as file:
        return file.read()
    return b""

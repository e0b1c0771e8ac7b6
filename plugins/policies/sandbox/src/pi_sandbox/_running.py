"""Finds the processes of the sandbox that are still there (Linux).

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
    from collections.abc import Collection, Iterator

__all__ = ["end_processes", "running"]

_ROUNDS = 50
_PAUSE = 0.02


def running(temp: str, others: Collection[str] = ()) -> list[int]:
    """Return the processes of a session's sandbox.

    Args:
        temp: The session's folder for temporary files.
        others: The same of other sessions in this process, whose processes are left out.
    """
    if not os.path.isdir("/proc/self"):
        return []
    filters, below = _filters(os.getpid()), _below(os.getpid())
    return [pid for pid in _processes() if pid != os.getpid() and _is_of(pid, pid in below, filters, temp, others)]


def end_processes(temp: str, others: Collection[str]) -> None:
    """Kill the processes of a session's sandbox, with what they start meanwhile."""
    for _ in range(_ROUNDS):
        left = running(temp, others)
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


def _processes() -> Iterator[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdigit())


def _below(root: int) -> set[int]:
    children: dict[int, list[int]] = {}
    for pid in _processes():
        fields = _read(pid, "stat").rpartition(b")")[2].split()
        if len(fields) > 1 and fields[0] != b"Z":
            children.setdefault(int(fields[1]), []).append(pid)
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

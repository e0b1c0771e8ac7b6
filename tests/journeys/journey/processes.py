"""The processes of a program that was started, by what the system says about them."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_RUNNING = "RD"


def is_busy(pid: int) -> bool:
    """Whether a process or one below it is computing now; one that waits for input, a timer or a network is not."""
    return any(_state(thread) in _RUNNING for each in (pid, *_below(pid)) for thread in _threads(each))


def of_environment(variable: str, value: str) -> dict[int, str]:
    """Return the command lines of all processes that have this variable, by their id."""
    wanted = f"{variable}={value}".encode()
    found = {}
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            if folder.name.isdigit() and wanted in (folder / "environ").read_bytes().split(b"\0"):
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
                if command:  # one that has ended and waits for its parent has none
                    found[int(folder.name)] = command
    return found


def _below(pid: int) -> list[int]:
    found = []
    for thread in _threads(pid):
        with suppress(OSError):
            for child in map(int, (thread / "children").read_text().split()):
                found += [child, *_below(child)]
    return found


def _threads(pid: int) -> list[Path]:
    with suppress(OSError):
        return [Path(each.path) for each in os.scandir(f"/proc/{pid}/task")]
    return []


def _state(thread: Path) -> str:
    with suppress(OSError):
        return (thread / "stat").read_text().rpartition(")")[2].split()[0]
    return "Z"

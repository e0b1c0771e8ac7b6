"""Commands that the kernel confines to certain directories and sockets (Landlock and seccomp, Linux)."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["confined", "confined_calls", "confinement_abi"]


def confined(
    argv: Sequence[str],
    *,
    read: Iterable[str],
    write: Iterable[str],
    sockets: Literal["none", "all"] | Sequence[int],
    names: Iterable[str] = (),
    processes: bool = True,
    attributes: bool = True,
) -> tuple[str, ...]:
    """Return a command that runs a program so that it and all its descendants stay confined permanently.

    The command is an ordinary command and may be started in any way; a ``Starter`` of this library runs it without
    launching the interpreter that it names. If the kernel cannot confine the program, the program does not run: the
    command fails with exit code 126, or cannot be started.

    Args:
        argv: The absolute path of the program, and its arguments.
        read: Absolute paths of files and directories that may be read; paths that do not exist are ignored.
        write: Absolute paths of files and directories that may be read and changed.
        sockets: ``none`` (only socket pairs can be created), ``all``, or the ports to which TCP connections are
            allowed.
        names: Directories below which all directories can be listed, whether or not their files can be read.
        processes: Whether the program can start other processes; it can always start threads.
        attributes: Whether it can change modes, owners, times and attributes of files, which it can of all files of the
            user, whatever ``write`` says; without, it also cannot change priorities nor watch files.
    """
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "supervisor", "confine.py")
    kind, ports = (sockets, ()) if isinstance(sockets, str) else ("tcp", sockets)
    return (
        *(sys.executable, "-I", "-S", script),
        *(f"--read={path}" for path in read),
        *(f"--write={path}" for path in write),
        *(f"--list={path}" for path in names),
        f"--sockets={kind}",
        *(f"--port={port}" for port in ports),
        *(() if processes else ("--processes=none",)),
        *(() if attributes else ("--attributes=keep",)),
        "--",
        *argv,
    )


def confined_calls() -> bytes | None:
    """Return the filter of system calls of ``confined`` with all sockets, as BPF for a sandbox with namespaces.

    It refuses io_uring, BPF, kernel keys, opening files by handle, typing into the terminal, and sockets other than
    those of Unix, of the internet, and the one that lists network interfaces. Limits of other processes and memory of
    System V are left to the namespaces.

    Returns:
        None on a machine whose system calls are not known.
    """
    if sys.platform != "linux":
        return None
    from pi_process_kit.supervisor.confine import call_filter

    try:
        return call_filter("all", namespaces=True)
    except OSError:
        return None


def confinement_abi() -> int:
    """Return the Landlock ABI version with which programs can be confined; 0 if they cannot be confined.

    Versions 1 and 2 count as 0. Restricting TCP ports requires version 4. From version 6 on, signals to other processes
    and their abstract Unix sockets are denied.
    """
    if sys.platform != "linux":
        return 0
    from pi_process_kit.supervisor.confine import MIN_ABI, landlock_abi

    abi = landlock_abi()
    return abi if abi >= MIN_ABI else 0

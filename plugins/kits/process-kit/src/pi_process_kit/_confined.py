"""Commands that the kernel confines to folders, and to no sockets or some TCP ports (Landlock and seccomp, Linux)."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["confined", "confinement_abi"]


def confined(
    argv: Sequence[str],
    *,
    read: Iterable[str],
    write: Iterable[str],
    sockets: Literal["none", "all"] | Sequence[int],
    names: Iterable[str] = (),
) -> tuple[str, ...]:
    """Return the command that runs a program, and all that it starts, confined for good.

    It is a command like any other, and may be started in any way; a ``Starter`` of this library saves the interpreter
    that it names. When the kernel cannot confine the program it is not run: the command fails with exit code 126, or
    cannot be started.

    Args:
        argv: The program, an absolute path, and its arguments.
        read: Absolute paths of files and folders that may be read; what does not exist is left out.
        write: Those that may be read and changed.
        sockets: ``none`` (socket pairs alone can be made), ``all``, or the ports that TCP connections can be made to.
        names: Folders below which all folders can be listed, whether or not their files can be read.
    """
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_supervisor", "confine.py")
    kind, ports = (sockets, ()) if isinstance(sockets, str) else ("tcp", sockets)
    return (
        *(sys.executable, "-I", "-S", script),
        *(f"--read={path}" for path in read),
        *(f"--write={path}" for path in write),
        *(f"--list={path}" for path in names),
        f"--sockets={kind}",
        *(f"--port={port}" for port in ports),
        "--",
        *argv,
    )


def confinement_abi() -> int:
    """Return the version of Landlock with which programs can be confined; 0 where they cannot.

    1 and 2 count as none; TCP ports need 4, signals and abstract Unix sockets of other processes are refused from 6 on.
    """
    if sys.platform != "linux":
        return 0
    from pi_process_kit._supervisor.confine import MIN_ABI, landlock_abi

    abi = landlock_abi()
    return abi if abi >= MIN_ABI else 0

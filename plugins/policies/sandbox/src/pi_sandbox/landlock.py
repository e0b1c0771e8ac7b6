"""Landlock and seccomp: the kernel refuses access; no program has to be started for it.

It cannot refuse a path inside an allowed folder: protected files are compared after each command instead, and to hide a
path, only its siblings are allowed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from pi_process_kit import confined

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_sandbox.policy import Policy, Way

__all__ = ["DEVICES", "landlock_argv"]

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/shm")  # noqa: S108
"""Devices that every program may write to."""


def landlock_argv(argv: Sequence[str], policy: Policy, proxy: Way | None = None) -> tuple[str, ...]:
    """Return the command that runs a program confined.

    Args:
        argv: The program, an absolute path, and its arguments.
        policy: What it may do.
        proxy: The way to the proxy, for the network ``allow``.
    """
    sockets: Literal["none", "all"] | list[int] = "none" if policy.network == "off" else "all"
    if policy.network == "allow":
        sockets = [proxy.port] if proxy is not None else "none"
    return confined(
        argv,
        read=_readable("/", policy.deny_read),
        write=(*policy.write, *DEVICES),
        names=("/",),
        sockets=sockets,
    )


def _readable(folder: str, denied: Sequence[str]) -> Iterator[str]:
    """Yield the paths below which nothing is denied; links are left out, because a rule would apply to their target."""
    inside = [place for place in denied if place.startswith(folder.rstrip("/") + "/")]
    if folder in denied:
        return
    if not inside:
        yield folder
        return
    try:
        with os.scandir(folder) as entries:
            children = [entry.path for entry in entries if not entry.is_symlink()]
    except OSError:
        return
    for child in children:
        yield from _readable(child, inside)

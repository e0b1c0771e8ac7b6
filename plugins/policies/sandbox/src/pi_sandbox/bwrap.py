"""bubblewrap: namespaces with a read-only disk except for some folders, without a network, and fewer system calls."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_sandbox.policy import Policy, Way

__all__ = ["bwrap_argv", "fixed_paths"]

_EMPTY = ("/tmp", "/run", "/var/tmp")  # noqa: S108 - hidden: sockets of other programs lie there
_WITH_FILTER = 'exec "$@" 3< "$0"'
"""The shell command that starts bubblewrap with the filter open: it takes filters from descriptors alone."""
_RESOLVER = "/run/systemd/resolve"


def bwrap_argv(
    program: str,
    argv: Sequence[str],
    policy: Policy,
    cwd: str,
    proxy: Way | None = None,
    *,
    calls: str | None = None,
) -> list[str]:
    """Return the command that runs a program in namespaces of its own.

    Args:
        program: Path of bubblewrap.
        argv: The program and its arguments.
        policy: What it may do.
        cwd: Where it runs.
        proxy: The way to the proxy, for the network ``allow``; nothing else is reachable.
        calls: A file with a filter of system calls, as BPF.
    """
    open_network = ["--share-net"] if policy.network == "open" else []
    filtered = ("/bin/sh", "-c", _WITH_FILTER, calls, program, "--seccomp", "3") if calls is not None else (program,)
    command = [
        *(*filtered, "--unshare-all", *open_network, "--die-with-parent", "--cap-drop", "ALL", "--ro-bind", "/", "/"),
        *("--dev", "/dev", "--proc", "/proc"),
        *_emptied(policy),
        *(word for path in policy.write if os.path.exists(path) for word in ("--bind-try", path, path)),
        *_protected(policy),
        *_hidden(policy),
        *("--chdir", cwd),
    ]
    if proxy is None or proxy.socket is None:
        return [*command, "--", *argv]
    python, relay = os.path.realpath(sys.executable), os.path.join(os.path.dirname(__file__), "relay.py")
    reached = (*("--ro-bind", proxy.socket, proxy.socket), *("--ro-bind", relay, relay))
    return [*command, *reached, "--", python, "-I", "-S", relay, proxy.socket, str(proxy.port), *argv]


def fixed_paths(policy: Policy) -> list[str]:
    """Return the protected paths that are read-only for a program that starts now."""
    return [path for path in policy.protected if os.path.exists(path) and not os.path.islink(path)]


def _emptied(policy: Policy) -> Iterator[str]:
    for folder in _EMPTY:
        if os.path.isdir(folder) and not os.path.islink(folder):
            yield from ("--tmpfs", folder)
            for path in policy.programs:
                if path.startswith(folder + "/") and os.path.isdir(path):
                    yield from ("--ro-bind", path, path)
    if policy.network == "open" and os.path.isdir(_RESOLVER):
        yield from ("--ro-bind", _RESOLVER, _RESOLVER)


def _hidden(policy: Policy) -> Iterator[str]:
    for path in policy.deny_read:
        if os.path.isdir(path):
            yield from ("--perms", "0000", "--tmpfs", path, "--remount-ro", path)
        elif os.path.exists(path):
            yield from ("--ro-bind", os.devnull, path)


def _protected(policy: Policy) -> Iterator[str]:
    """Yield the options that make existing protected paths read-only.

    Each folder between the writable one and the path is first bound onto itself: as a mount it can be neither renamed
    nor removed. Links are compared after the command instead, because a mount would apply to their target.
    """
    bound: set[str] = set()
    for path in fixed_paths(policy):
        root = max((place for place in policy.write if path.startswith(place.rstrip("/") + "/")), key=len, default=None)
        if root is None:
            continue
        folder, between = os.path.dirname(path), []
        while len(folder) > len(root) and folder not in bound:
            between.append(folder)
            bound.add(folder)
            folder = os.path.dirname(folder)
        for each in reversed(between):
            yield from ("--bind-try", each, each)
        yield from ("--ro-bind-try", path, path)

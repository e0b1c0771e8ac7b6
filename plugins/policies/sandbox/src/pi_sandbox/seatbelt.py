"""Seatbelt, macOS' ``sandbox-exec``. Written from its documentation, untested: the probe decides about its use."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_sandbox.policy import Policy, Way

__all__ = ["seatbelt_argv"]

_DEVICES = ("/dev/null", "/dev/zero", "/dev/tty", "/dev/dtracehelper")


def seatbelt_argv(program: str, argv: Sequence[str], policy: Policy, proxy: Way | None = None) -> list[str]:
    """Return the command that runs a program under a profile, in which the last matching rule counts.

    Args:
        program: Path of ``sandbox-exec``.
        argv: The program and its arguments.
        policy: What it may do.
        proxy: The way to the proxy, for the network ``allow``.
    """
    rules = ["(version 1)", "(allow default)", "(deny file-write*)"]
    rules += [f"(allow file-write* (subpath {_quoted(path)}))" for path in policy.write]
    rules += [f"(allow file-write* (literal {_quoted(path)}))" for path in _DEVICES]
    rules += [f"(deny file-write* (subpath {_quoted(path)}))" for path in policy.protected]
    rules += [f"(deny file-read* file-write* (subpath {_quoted(path)}))" for path in policy.deny_read]
    if policy.network != "open":
        rules.append("(deny network*)")
    if policy.network == "allow" and proxy is not None:
        rules.append(f'(allow network-outbound (remote ip "localhost:{proxy.port}"))')
    rules.append("(deny signal (target others))")
    return [program, "-p", "\n".join(rules), *argv]


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'

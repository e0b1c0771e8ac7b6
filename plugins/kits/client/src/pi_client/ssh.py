"""Sessions that ``pi serve`` serves on another computer: their sockets, forwarded by the user's own ssh."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from pi_client.errors import ConnectionLost, PiClientError
from pi_client.served import ServedSession, choose_served, listens

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["forwarded", "served_on", "served_over_ssh"]

_LIST = r"""for each in "${PI_CODING_AGENT_DIR:-$HOME/.pi/agent}"/run/*.json; do
pid=$(sed -n 's/.*"pid": \([0-9]*\).*/\1/p' "$each" 2>/dev/null)
[ -n "$pid" ] && kill -0 "$pid" 2>/dev/null && cat "$each"
done; true"""
"""Prints the announcements of the servers that run; for any POSIX shell."""

_SIGNS = "._- @+,="
_PLAIN_PATH = rf"/[\w/{re.escape(_SIGNS)}]*"
_SECONDS = 60.0
"""For the login, which may ask for a password, and until the socket is forwarded."""


@contextmanager
def served_over_ssh(host: str, name: str | None) -> Iterator[ServedSession]:
    """Yield a session that is served on another computer, with a socket on this one; ssh ends with the context.

    Args:
        host: What ``ssh`` calls the computer.
        name: The beginning of the session's id, of four characters or more; None for the only one.

    Raises:
        PiClientError: There is no such session, or more than one.
        ConnectionLost: ssh is not installed, or failed; it has printed why.
    """
    with forwarded(host, choose_served(served_on(host), name, f"on {host!r}")) as served:
        yield served


def served_on(host: str) -> list[ServedSession]:
    """Return what is served on another computer; the sockets are paths there.

    Args:
        host: What ``ssh`` calls the computer.

    Raises:
        PiClientError: That is not the name of a computer.
        ConnectionLost: ssh is not installed, or failed; it has printed why.
    """
    if not host or host.startswith("-"):
        raise PiClientError(f"{host!r} is not the name of a computer")
    command = ["ssh", "--", host, f"sh -c {shlex.quote(_LIST)}"]
    try:
        done = subprocess.run(  # noqa: S603 - the user's own ssh
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=_SECONDS, check=False
        )
    except FileNotFoundError as error:
        raise ConnectionLost("The program 'ssh' is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise ConnectionLost(f"ssh did not reach {host!r} within {_SECONDS:.0f} seconds") from error
    if done.returncode:
        raise ConnectionLost(f"ssh to {host!r} failed with code {done.returncode}")
    found = []
    for line in done.stdout.splitlines():
        with suppress(ValueError, TypeError, KeyError):
            facts = json.loads(line)
            served = ServedSession(*map(_text, (facts["session"], facts["cwd"], facts["socket"])))
            found.append(served)
    return found


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


@contextmanager
def forwarded(host: str, served: ServedSession) -> Iterator[ServedSession]:
    """Yield a session of another computer with a socket on this one; ssh ends with the context.

    Args:
        host: What ``ssh`` calls the computer.
        served: One of the sessions that ``served_on`` returned for it.

    Raises:
        PiClientError: The other computer names a socket that ssh would not take as it is written.
        ConnectionLost: ssh failed; it has printed why.
    """
    # ssh expands ${VARIABLE} and %-tokens of a forwarded path on this computer, and sends the result to the other one.
    if not re.fullmatch(_PLAIN_PATH, served.socket):
        raise PiClientError(
            f"{host!r} names the socket {served.socket[:100]!r}, which is not forwarded: it must be an absolute path of"
            f" letters, digits and the characters in '{_SIGNS}'. Start pi serve there with another agent directory"
            f" (PI_CODING_AGENT_DIR)."
        )
    with TemporaryDirectory(prefix="pi-ssh-") as folder:
        socket = Path(folder, "socket")
        command = ["ssh", "-N", "-o", "ExitOnForwardFailure=yes", "-L", f"{socket}:{served.socket}", "--", host]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL) as forwarding:  # noqa: S603 - as above
            try:
                _wait(socket, forwarding, host)
                yield ServedSession(served.session, served.cwd, str(socket))
            finally:
                forwarding.terminate()


def _wait(socket: Path, forwarding: subprocess.Popen[bytes], host: str) -> None:
    """Wait until ssh listens at the socket.

    Raises:
        ConnectionLost: ssh has ended, or did not do so in time.
    """
    end = time.monotonic() + _SECONDS
    while not listens(socket):  # the file is there a moment before
        if forwarding.poll() is not None:
            raise ConnectionLost(f"ssh to {host!r} ended with code {forwarding.returncode}")
        if time.monotonic() > end:
            raise ConnectionLost(f"ssh did not forward the socket of {host!r} within {_SECONDS:.0f} seconds")
        time.sleep(0.05)

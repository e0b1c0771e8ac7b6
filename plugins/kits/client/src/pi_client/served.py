"""Sessions that ``pi serve`` serves: where they are, and the first line of a client."""

from __future__ import annotations

import asyncio
import errno
import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_client.errors import ConnectionLost, PiClientError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ServedSession", "choose_served", "find_served", "listens", "open_served", "served_sessions"]

_MIN_NAME = 4
"""Characters of the beginning of an id."""

_SECONDS = 10.0
"""Time for the answer to the first line."""


@dataclass(frozen=True)
class ServedSession:
    """A session that is served on this computer.

    Attributes:
        session: Its id.
        cwd: Its folder.
        socket: The path of its socket.
        url: The address for a browser on this computer; None if there is none.
        public: The address for browsers elsewhere, through the user's own proxy or tunnel; None if there is none.
    """

    session: str
    cwd: str
    socket: str
    url: str | None = None
    public: str | None = None


def served_sessions(agent_dir: str | Path) -> list[ServedSession]:
    """Return the served sessions, without those whose server was killed.

    Args:
        agent_dir: The agent directory, such as ``~/.pi/agent``.
    """
    found = []
    paths: list[Path] = []
    with suppress(OSError):  # a folder that cannot be read
        paths = sorted(Path(agent_dir, "run").glob("*.json"))
    for path in paths:
        with suppress(OSError, ValueError, TypeError, KeyError):
            facts = json.loads(path.read_bytes())
            if listens(facts["socket"]):
                places = (facts.get("url"), facts.get("public"))
                found.append(ServedSession(facts["session"], facts["cwd"], facts["socket"], *places))
    return found


def find_served(agent_dir: str | Path, name: str | None, cwd: str | Path) -> ServedSession:
    """Return the served session that a user means.

    Args:
        agent_dir: The agent directory.
        name: The path of a socket, or the beginning of a session's id, of four characters or more; None for the one
            of a folder.
        cwd: That folder.

    Raises:
        PiClientError: There is none, or more than one.
    """
    if name is not None and Path(name).is_socket():
        return ServedSession("", "", name)
    served = served_sessions(agent_dir)
    if name is not None:
        return choose_served(served, name)
    return _only([each for each in served if Path(each.cwd) == Path(cwd)], served, f"in {str(cwd)!r}")


def choose_served(served: Sequence[ServedSession], name: str | None, where: str = "") -> ServedSession:
    """Return the one of these sessions that a user means.

    Args:
        served: The sessions.
        name: The beginning of its id, of four characters or more; None for the only one.
        where: Where they are served, for messages.

    Raises:
        PiClientError: There is none, or more than one.
    """
    if name is None:
        return _only(served, served, where)
    found = [each for each in served if len(name) >= _MIN_NAME and each.session.startswith(name)]
    return _only(found, served, f"named {name!r}")


def _only(found: Sequence[ServedSession], served: Sequence[ServedSession], what: str) -> ServedSession:
    if len(found) == 1:
        return found[0]
    known = ", ".join(f"{each.session} in {each.cwd!r}" for each in found or served)
    if found:
        raise PiClientError(f"{len(found)} sessions {what} are served. Name one of them: {known}")
    others = f" These are served: {known}" if served else " Start one with pi serve"
    raise PiClientError(f"No session {what} is served.{others}")


def listens(path: str | Path) -> bool:
    """Whether a process accepts connections at a socket."""
    import socket

    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(0)
        return probe.connect_ex(str(path)) in (0, errno.EAGAIN)


async def open_served(
    path: str | Path, *, since: str | None, observe: bool, client: str
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to a served session and say hello; returns the streams, with all that comes after the answer unread.

    Raises:
        ConnectionLost: No process serves a session there.
        PiClientError: The server refuses the client.
    """
    try:
        reader, writer = await asyncio.open_unix_connection(str(path))
    except OSError as error:
        raise ConnectionLost(f"No process serves a session at {str(path)!r}: {error.strerror or error}") from error
    hello: dict[str, Any] = {"type": "hello", "role": "observe" if observe else "control", "client": client}
    if since is not None:
        hello["since"] = since
    try:
        writer.write(json.dumps(hello).encode() + b"\n")
        async with asyncio.timeout(_SECONDS):
            answer = json.loads(await reader.readline() or b"{}")
    except (OSError, ValueError, TimeoutError) as error:
        writer.close()
        raise ConnectionLost(f"The program that listens at {str(path)!r} does not answer as pi serve does") from error
    if answer.get("type") != "hello":
        writer.close()
        raise PiClientError(str(answer.get("error", f"The program that listens at {str(path)!r} is not pi serve")))
    return reader, writer

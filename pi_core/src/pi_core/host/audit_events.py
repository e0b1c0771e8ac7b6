"""Translates Python's audit events into actions: opening and changing files, starting programs, connecting."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

__all__ = ["HEARD", "NETWORK", "PROCESSES", "WRITES", "Deed", "deed_of"]

PROCESSES = frozenset(
    {"os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.startfile", "os.system"}
    | {"pty.spawn", "subprocess.Popen"}
)
WRITES = frozenset(
    {"os.chmod", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink", "os.truncate"}
    | {"os.utime", "shutil.copyfile", "shutil.move", "shutil.rmtree"}
)
_LOOKUPS = frozenset({"socket.getaddrinfo", "socket.gethostbyname"})
_CONNECTIONS = frozenset({"socket.bind", "socket.connect", "socket.sendto"})
NETWORK = _LOOKUPS | _CONNECTIONS
HEARD = PROCESSES | WRITES | NETWORK | {"open", "sqlite3.connect"}
"""The events that are translated; all others are ignored."""

_TWO_PATHS = frozenset({"os.link", "os.rename", "os.symlink", "shutil.copyfile", "shutil.move"})
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Deed(NamedTuple):
    """One action of code.

    Attributes:
        kind: ``files``, ``commands`` or ``network``, as in a plugin's grants.
        what: The path, the program, or ``host:port``.
        writes: Whether a file is changed.
        looked_up: Whether a host's address is looked up, which is followed by a connection to an address.
    """

    kind: str
    what: str
    writes: bool = False
    looked_up: bool = False


def deed_of(event: str, arguments: tuple[Any, ...]) -> Deed | None:
    """Return the action that an audit event reports; None for actions that plugins need not declare."""
    if event == "open":
        mode, flags = (*arguments[1:3], None, 0)[:2]
        writes = bool(flags & _WRITING) if isinstance(flags, int) else "r" not in str(mode)
        return _file(arguments[0], writes=writes)
    if event in WRITES:
        return _change(event, arguments)
    if event == "sqlite3.connect":
        return _file(arguments[0], writes=True) if arguments[0] != ":memory:" else None
    if event in PROCESSES:
        return Deed("commands", _program(event, arguments))
    if event in _LOOKUPS:
        return _lookup(arguments)
    return _connection(arguments[1]) if event in _CONNECTIONS else None


def _file(path: object, *, writes: bool) -> Deed | None:
    if not isinstance(path, str | bytes | os.PathLike):
        return None  # a file that is already open
    return Deed("files", os.path.abspath(os.fsdecode(path)), writes)  # noqa: PTH100 - no link is resolved


def _change(event: str, arguments: tuple[Any, ...]) -> Deed | None:
    folder = arguments[-1]
    if event != "os.truncate" and isinstance(folder, int) and folder >= 0:
        return None  # the path is relative to an open folder, whose opening was reported
    return _file(arguments[event in _TWO_PATHS], writes=True)


def _program(event: str, arguments: tuple[Any, ...]) -> str:
    if not arguments:
        return event.removeprefix("os.")
    if event == "os.system":
        return _text(arguments[0]).split(maxsplit=1)[0]
    if event == "subprocess.Popen":
        executable, command = arguments[0], arguments[1]
        if isinstance(command, list | tuple) and command:
            command = command[0]
        return _text(executable or command)
    return _text(arguments[1] if event in {"os.spawn", "pty.spawn"} and len(arguments) > 1 else arguments[0])


def _text(value: object) -> str:
    if isinstance(value, list | tuple) and value:
        value = value[0]
    return os.fsdecode(value) if isinstance(value, str | bytes | os.PathLike) else str(value)


def _lookup(arguments: tuple[Any, ...]) -> Deed | None:
    host = arguments[0]
    if host is None:
        return None
    port = arguments[1] if len(arguments) > 1 else None
    return Deed("network", f"{_text(host)}:{_text(port)}" if port else _text(host), looked_up=True)


def _connection(address: object) -> Deed | None:
    if isinstance(address, tuple) and len(address) > 1 and isinstance(address[0], str):
        return Deed("network", f"{address[0]}:{address[1]}")
    return _file(address, writes=True) if address else None  # a socket in the file system

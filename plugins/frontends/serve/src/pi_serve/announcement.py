"""The file by which ``pi attach`` finds a served session; its lock prevents a second server for the same session."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Announcement"]


class Announcement:
    """Announces the served session in ``SESSION.json`` in a directory, until the end of a ``with`` block.

    Args:
        folder: ``<agent dir>/run``.
        facts: The content: ``session``, ``cwd``, ``socket``, and for browsers ``url`` and ``public``.

    Raises:
        UserError: The session is already being served, or the socket's path is in use.
    """

    def __init__(self, folder: Path, **facts: Any) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder = folder
        self._facts = facts
        self._path = self._path_of(facts["session"])
        self._descriptor = _lock(self._path, facts["session"])
        try:
            _remove_abandoned(Path(facts["socket"]))
            self.add()
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        self._path.unlink(missing_ok=True)
        os.close(self._descriptor)

    def add(self, **facts: Any) -> None:
        """Add these facts to the announcement."""
        self._facts.update(facts)
        os.truncate(self._descriptor, 0)
        os.pwrite(self._descriptor, json.dumps({**self._facts, "pid": os.getpid()}).encode() + b"\n", 0)

    def rename(self, session: str) -> None:
        """Announce another session in place of the previous one.

        Raises:
            UserError: Another process serves it; the announcement is not changed.
        """
        if session == self._facts["session"]:
            return
        path = self._path_of(session)
        descriptor = _lock(path, session)
        self.__exit__()
        self._path, self._descriptor = path, descriptor
        self.add(session=session)

    def _path_of(self, session: str) -> Path:
        return self._folder / f"{session}.json"


def _lock(path: Path, session: str) -> int:
    import fcntl

    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise UserError(f"Session {session!r} is already served. Use 'pi attach {session[:8]}'") from error
    return descriptor


def _remove_abandoned(path: Path) -> None:
    """Remove the socket of a server that was killed.

    Raises:
        UserError: The path is a file of another kind, or a server is listening on the socket.
    """
    if not path.exists():
        return
    if not path.is_socket():
        raise UserError(f"{str(path)!r} exists and is not a socket. Give another path: --socket PATH")
    with socket.socket(socket.AF_UNIX) as probe:
        if probe.connect_ex(str(path)) == 0:
            raise UserError(f"Another program listens at {str(path)!r}. Give another path: --socket PATH")
    path.unlink()

"""Selects the session of a command line: a new one, the last one, one by path or id, or a copy."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pi_core import SessionManager, expand_home
from pi_core.session.stores import NoStore
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_cli.options import Options
    from pi_core import PluginHost
    from pi_hookspecs import SessionInfo

__all__ = ["choose_session", "stored_session"]


def choose_session(options: Options, host: PluginHost, cwd: Path, environ: Mapping[str, str]) -> SessionManager:
    """Return the session to run.

    Raises:
        UserError: There is no such session, it cannot be used, or its folder is gone.
    """
    session = _Choice(options, host, cwd, environ).session()
    if options.name is not None:
        session.append_session_info(options.name)
    return session


def stored_session(
    reference: str, options: Options, host: PluginHost, cwd: Path, environ: Mapping[str, str]
) -> SessionManager:
    """Return a session of any folder, for reading.

    Raises:
        UserError: There is no such session, or it cannot be read.
    """
    path = _Choice(options, host, cwd, environ).path(reference)
    session = SessionManager.open(path, options.session_dir, cwd=cwd, host=host, environ=environ)
    if session.is_saved:
        return session
    session.close()
    raise UserError(f"There is no session at {path!r}, or nothing in it. pi sessions list shows what is stored")


class _Choice:
    def __init__(self, options: Options, host: PluginHost, cwd: Path, environ: Mapping[str, str]) -> None:
        self.options = options
        self.host = host
        self.cwd = cwd
        self.environ = environ

    def session(self) -> SessionManager:
        options, host, environ, folder = self.options, self.host, self.environ, self.options.session_dir
        if options.no_session:
            return SessionManager.in_memory(self.cwd, id=options.session_id)
        if options.fork is not None:
            if self.with_id() is not None:
                raise UserError(
                    f"Session already exists with id {options.session_id!r}. Give the copy another id, or none, or "
                    f"continue that session: --session-id {options.session_id}, without --fork"
                )
            path = self.path(options.fork)
            return SessionManager.fork_from(path, self.cwd, folder, id=options.session_id, host=host, environ=environ)
        if options.session is not None:
            path = self.path(options.session)
            session = self.checked(SessionManager.open(path, folder, cwd=self.cwd, host=host, environ=environ))
            if not session.get_entries() and not Path(path).exists():
                session.notice(f"No session is stored at {path!r}; creating a new session there.")
            return session
        if options.continue_:
            return SessionManager.continue_recent(self.cwd, folder, host=host, environ=environ)
        known = self.with_id()
        if known is not None:
            return SessionManager.open(known.path, folder, cwd=self.cwd, host=host, environ=environ)
        session = SessionManager.create(self.cwd, folder, id=options.session_id, host=host, environ=environ)
        if options.session_id is not None:
            session.notice(
                f"No project session found with id {options.session_id!r}; creating a new session with that id."
            )
        return session

    def with_id(self) -> SessionInfo | None:
        """Return the session of this folder with exactly the id of ``--session-id``; None if there is none."""
        if self.options.session_id is None:
            return None
        folder, host, environ = self.options.session_dir, self.host, self.environ
        with suppress(NoStore):  # the new session reports it
            return SessionManager.find_by_id(self.options.session_id, folder, cwd=self.cwd, host=host, environ=environ)
        return None

    def path(self, reference: str) -> str:
        """Return a session's path: the reference if it is a path, else the path of the session with this id prefix."""
        if os.sep in reference or "/" in reference or reference.endswith(".jsonl"):
            return str(self.cwd / expand_home(reference))
        found = SessionManager.find(reference, self.cwd, self.options.session_dir, host=self.host, environ=self.environ)
        talks_in_it = self.options.fork is None and self.options.export is None
        if found.cwd != str(self.cwd) and talks_in_it and Path(found.cwd).is_dir():  # else see ``checked``
            raise UserError(
                f"Session {found.id} belongs to another folder, {found.cwd!r}. Go there, or continue in a copy: "
                f"--fork {found.id}"
            )
        return found.path

    def checked(self, session: SessionManager) -> SessionManager:
        """Return the session after checking that its folder exists: else its tools would work in another one."""
        if self.options.is_moved or Path(session.cwd).is_dir():
            return session
        session.close()
        raise UserError(
            f"The folder of session {session.id} is gone: {session.cwd!r}. Continue in this one in a copy: "
            f"--fork {session.file or session.id}"
        )

"""The command that continues a session: it has to find it in the shell that pi was started from."""

from __future__ import annotations

import os
from shlex import join, quote
from typing import TYPE_CHECKING

from pi_core.session.stores import NoStore, resolve_store

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pi_core import AgentSession

__all__ = ["resume_command"]


def resume_command(session: AgentSession, environ: Mapping[str, str]) -> str | None:
    """Return the command, quoted for a shell; None if the session is not stored.

    Args:
        session: The session.
        environ: The environment, whose ``PWD`` is the shell's folder: pi itself may have moved to a worktree.

    Raises:
        OSError: Its file cannot be looked at.
    """
    file = session.session_file
    if file is None or not file.exists():
        return None
    shell = environ.get("PWD") or ""
    there = shell if os.path.isdir(shell) else os.getcwd()  # noqa: PTH109, PTH112
    cd = "" if os.path.realpath(there) == os.path.realpath(session.cwd) else f"cd {quote(str(session.cwd))} && "
    return cd + join(["pi", *_options(session, file)])


def _options(session: AgentSession, file: Path) -> list[str]:
    """Return the options that find a session: its id, and its folder if that is not where pi looks by itself."""
    named = ["--session", session.session_id]
    chosen = session.session_manager.chosen_dir
    try:
        usual = resolve_store(session.cwd, host=session.session_manager.plugin_host).place
    except NoStore:
        return named
    if (usual.session_dir or usual.agent_dir / "sessions") in file.parents:
        return named
    if chosen is not None and chosen in file.parents:
        return ["--session-dir", str(chosen), *named]
    return ["--session", str(file)]

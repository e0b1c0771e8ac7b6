"""Lets the user choose a stored session from a list: for ``--resume`` and the line mode's ``/resume``."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import TYPE_CHECKING

from pi_cli.words import one_line, shorten
from pi_core import SessionManager
from pi_hookspecs import UserError
from pi_terminal_kit.words import age, count, session_title

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pi_cli.options import Options
    from pi_core import PluginHost
    from pi_hookspecs import SessionInfo, UserInterface

__all__ = ["ask_for_session", "choose_among", "line_ui"]

_WIDTH = 50

_PAGE = 15
"""Sessions listed at a time: with more, the latest would scroll off the screen first."""

_OLDER = "older ones"


async def ask_for_session(
    options: Options, host: PluginHost, cwd: Path, environ: Mapping[str, str]
) -> SessionInfo | None:
    """Let the user choose one of the folder's sessions; None when they want none.

    Raises:
        UserError: There is no terminal, or no session to choose from.
    """
    if sys.stdin is None or not sys.stdin.isatty() or sys.stderr is None or not sys.stderr.isatty():
        raise UserError(
            "--resume needs a terminal to ask which session to continue."
            " Use --continue for the last one, or --session ID; pi sessions list shows the ids"
        )
    stored = await asyncio.to_thread(SessionManager.list, cwd, options.session_dir, host=host, environ=environ)
    if not stored:
        raise UserError(f"No session is stored for {str(cwd)!r}. Omit --resume to start one")
    return await choose_among(line_ui(), stored)


async def choose_among(ui: UserInterface, sessions: Sequence[SessionInfo]) -> SessionInfo | None:
    """Show the sessions, the latest first, children under their parents, and return the chosen one."""
    from pi_core import nested_sessions

    labels: dict[str, SessionInfo] = {}
    now = time.time()
    for each, depth in nested_sessions(sessions, sessions):
        label = _label(each, depth, now)
        labels[label if label not in labels else f"{label}, {each.id}"] = each
    rest = [*labels]
    while True:
        page, rest = rest[:_PAGE], rest[_PAGE:]
        chosen = await ui.select("Which session?", [*page, _OLDER] if rest else page)
        if chosen is None or chosen in labels:
            return labels[chosen] if chosen is not None else None


def _label(session: SessionInfo, depth: int, now: float) -> str:
    title = shorten(one_line(session_title(session.name, session.first_message)), _WIDTH)
    branch = f"{'   ' * (depth - 1)}└─ " if depth else ""
    when = age(max(now - session.modified.timestamp(), 0))
    return f"{branch}{title} ({count(session.message_count, 'message')}, {when})"


def line_ui() -> UserInterface:
    """Return the line mode's user interface, which reads no input ahead and needs a terminal."""
    if sys.stdout.isatty():
        from pi_cli.line.dialogs import LineUI

        return LineUI()
    from pi_cli.terminal_ui import TerminalUI

    return TerminalUI()

"""Asks where to continue a session of another folder, before a front end takes the terminal over."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from attrs import evolve

from pi_cli.words import one_line
from pi_core import SessionManager, expand_home
from pi_hookspecs import PiError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pi_cli.options import Options
    from pi_core import PluginHost
    from pi_hookspecs import UserInterface

__all__ = ["ask_for_folder"]


async def ask_for_folder(
    options: Options, host: PluginHost, cwd: Path, environ: Mapping[str, str], ui: Callable[[], UserInterface]
) -> Options | None:
    """Return the options with what the user answered; None if they cancel.

    Nothing is asked where the session can simply be opened, or cannot be found, which its opening reports.

    Args:
        options: ``session`` names the session, by its path or by the beginning of its id.
        host: The plugins.
        cwd: The folder that pi was started in.
        environ: The environment.
        ui: Returns what asks, which takes long to import; called only for a question.
    """
    reference = options.session
    if reference is None:
        return options
    is_path = "/" in reference or reference.endswith(".jsonl")
    try:
        path, folder = _place(reference, options, host, cwd, environ, is_path=is_path)
    except PiError:
        return options
    if not os.path.isdir(folder):  # noqa: PTH112, ASYNC240 - nothing else runs yet
        return await _of_missing_folder(options, path, folder, cwd, ui())
    if is_path or folder == str(cwd):
        return options
    question = f"Session found in different project: {one_line(folder)}\nFork this session into current directory?"
    if not await ui().confirm("Fork", question):
        return None
    return evolve(options, session=None, fork=path)


def _place(
    reference: str, options: Options, host: PluginHost, cwd: Path, environ: Mapping[str, str], *, is_path: bool
) -> tuple[str, str]:
    """Return the session's path and its folder."""
    if not is_path:
        found = SessionManager.find(reference, cwd, options.session_dir, host=host, environ=environ)
        return found.path, found.cwd
    path = str(cwd / expand_home(reference))
    session = SessionManager.open(path, options.session_dir, cwd=cwd, host=host, environ=environ)
    try:
        return path, session.cwd
    finally:
        session.close()


async def _of_missing_folder(options: Options, path: str, folder: str, cwd: Path, ui: UserInterface) -> Options | None:
    here = one_line(str(cwd))
    go_on = f"Continue in {here} (asks again next time)"
    fork = f"Fork into {here} (new session ID, original kept)"
    chosen = await ui.select(f"Session cwd does not exist: {one_line(folder)}", [go_on, fork, "Cancel"])
    if chosen == go_on:
        return evolve(options, session=path, is_moved=True)
    return evolve(options, session=None, fork=path) if chosen == fork else None

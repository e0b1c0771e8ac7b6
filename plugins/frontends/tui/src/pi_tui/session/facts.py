"""What the screen shows of a session from its start: the footer, problems, why there is no model, texts of files."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pi_hookspecs import PiError
from pi_tui.declared_settings import ANTHROPIC_EXTRA_USAGE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pi_core import Session

__all__ = [
    "clean_text",
    "facts_of",
    "files_below",
    "problems_of",
    "resume_command",
    "session_info",
    "text_of",
    "usage_of",
    "why_no_model",
]

_MOST_TEXT = 1_000_000
"""Maximum size of a file whose text is read while the screen is drawn."""


def facts_of(session: Session, place: str = "") -> dict[str, Any]:
    """Return the fields of the footer that no event contains.

    Args:
        session: The session.
        place: Where a session of another process is, since the protocol does not provide its folder.
    """
    from pi_terminal_kit.figures import dispatch_facts

    model, local = session.model, session.local
    if local is not None:
        from pi_terminal_kit.branches import branch_of

        where = {"cwd": os.fspath(local.cwd), "branch": branch_of(local.cwd)}
    else:
        where = {"cwd": place}
    return {
        **where,
        "name": session.session_name,
        "model": None if model is None else model.id,
        "provider": None if model is None else model.provider,
        "window": 0 if model is None else model.context_window,
        "level": session.thinking_level if model is not None and model.reasoning else None,
        **dispatch_facts(_last_answer(session) if model is not None and model.is_virtual else None),
        "auto_compact": session.auto_compaction_enabled,
        "providers": len({each.provider for each in session.get_available_models()}),
    }


def _last_answer(session: Session) -> Any:
    messages = (getattr(entry, "message", None) for entry in reversed(session.get_branch()))
    return next((each for each in messages if getattr(each, "role", None) == "assistant"), None)


def usage_of(session: Session) -> dict[str, Any]:
    """Return the footer's totals."""
    from pi_terminal_kit.figures import usage_facts

    return usage_facts(session.get_session_stats())


def session_info(session: Session) -> list[str]:
    """Return lines about the session's file, size and cost."""
    from pi_core.base.paths import below_home
    from pi_terminal_kit.figures import session_rows

    file = session.session_file
    shown = None if file is None else str(file) if session.local is None else below_home(file)
    return session_rows(session.get_session_stats(), file=shown, cache=session.cache_warming)


def text_of(session: Session, path: str) -> str | None:
    """Return the text of a file of the session; None if it is large, no text, or on another computer."""
    if session.local is None:
        return None
    from pi_core.base.paths import expand_home

    try:
        file = session.local.cwd / expand_home(path)
        if file.is_file() and file.stat().st_size <= _MOST_TEXT:  # a pipe would block the screen
            return file.read_bytes().decode()
    except (OSError, ValueError, RuntimeError):  # a path from the model may be anything
        pass
    return None


def files_below(session: Session, folder: str) -> Iterator[str]:
    """Yield the files below a folder as relative paths; call this in a thread. None of another process are known."""
    if session.local is not None:
        from pi_core.resources.walking import relative_files

        yield from relative_files(folder)


def problems_of(session: Session) -> Iterator[str]:
    """Return messages about plugins, settings and costs for the user; each call returns the same ones again."""
    local = session.local
    yield from session.problems()
    asks = local is not None and ANTHROPIC_EXTRA_USAGE.read(local.settings)
    if local is not None and local.model is not None and asks:
        yield from filter(None, [local.models.login_note(local.model.provider)])


def why_no_model(session: Session) -> str | None:
    """Return sentences on why no model is selected and what to do.

    None if there is a model, or if the session is in another process, which explains it itself.
    """
    if session.local is None or session.local.model is not None:
        return None
    from pi_tui.session.no_model import why_no_model

    return why_no_model(session.local.models)


def clean_text(session: Session, text: str) -> str | None:
    """Return a text without secrets, so that it may be written to a file; None if it may not be written.

    The plugins that know the secrets run in the session's process.
    """
    if session.local is None:
        return None
    try:
        return session.local.ctx.secrets.clean(text)
    except PiError:
        return None


def resume_command(session: Session, environ: Mapping[str, str]) -> str | None:
    """Return the command that continues the session later, for a shell; None if it is not stored here."""
    if session.local is None:
        return None
    from pi_tui.session.resuming import resume_command

    with suppress(OSError):
        return resume_command(session.local, environ)
    return None

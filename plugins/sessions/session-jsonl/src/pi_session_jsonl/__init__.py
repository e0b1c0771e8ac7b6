"""Keeps sessions as files of JSON lines, one folder for each working directory, interchangeable with pi's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import SessionStore, Subcommand

__all__ = ["register_session_stores", "register_subcommands"]


@hookimpl
def register_session_stores() -> Sequence[type[SessionStore]]:
    """Add the store ``jsonl``."""
    from pi_session_jsonl.store import JsonlSessionStore

    return [JsonlSessionStore]


@hookimpl
def register_subcommands() -> Sequence[Subcommand]:
    """Add ``pi sessions``."""
    from pi_hookspecs import Subcommand

    return [Subcommand("sessions", run=_sessions, description="List stored sessions, find one, check or repair a file")]


def _sessions(arguments: list[str], host: Any) -> int:
    from pi_session_jsonl.command import run_sessions

    return run_sessions(arguments, host)

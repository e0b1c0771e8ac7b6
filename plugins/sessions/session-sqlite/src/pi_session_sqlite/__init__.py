"""Searches all stored sessions with an index in SQLite, and keeps sessions in SQLite for those who choose it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Command, PiContext, Service, SessionStore, Subcommand

__all__ = ["register_commands", "register_services", "register_session_stores", "register_subcommands"]


@hookimpl
def register_services() -> Sequence[Service]:
    """Search stored sessions for ``ctx.sessions.search``."""
    from pi_session_sqlite.matches import StoredSearch

    return [StoredSearch()]


@hookimpl
def register_session_stores() -> Sequence[type[SessionStore]]:
    """Add the store ``sqlite``."""
    from pi_session_sqlite.store import SqliteSessionStore

    return [SqliteSessionStore]


@hookimpl
def register_subcommands() -> Sequence[Subcommand]:
    """Add ``pi sessions search`` and ``pi sessions convert``."""
    from pi_hookspecs import Subcommand

    return [
        Subcommand("sessions search", run=_run, description="Search the text of all stored sessions"),
        Subcommand("sessions convert", run=_convert, description="Copy sessions from files into SQLite, or back"),
    ]


@hookimpl
def register_commands() -> Sequence[Command]:
    """Add ``/search``."""
    from pi_hookspecs import Command

    return [
        Command(
            "search",
            handler=_search,
            description="Search the text of all stored sessions: /search QUERY",
            touches=("files",),
        )
    ]


def _run(arguments: list[str], host: Any) -> int:
    from pi_session_sqlite.command import run

    return run(arguments, host)


def _convert(arguments: list[str], host: Any) -> int:
    from pi_session_sqlite.convert_command import run

    return run(arguments, host)


async def _search(args: str, ctx: PiContext) -> None:
    from pi_session_sqlite.slash import search

    await search(args, ctx)

"""Adds ``pi import``, which imports the files of other agents, and runs the imported hook programs.

Without a ``hooks.json``, in the agent directory or in the project's ``.pi``, sessions do not import this plugin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import PiAPI, Subcommand

__all__ = ["activate", "pi_when", "register_subcommands"]

pi_when = {"files": ["hooks.json"]}


@hookimpl
def activate(pi: PiAPI) -> None:
    """Run the programs of ``hooks.json`` in this session."""
    from pi_import.hooks.session import SessionHooks

    SessionHooks(pi).listen()


@hookimpl
def register_subcommands() -> Sequence[Subcommand]:
    """Add ``pi import``."""
    from pi_hookspecs import Subcommand

    return [Subcommand("import", run=_run, description="Import the setup and sessions of another agent")]


def _run(arguments: list[str], host: Any) -> int:
    from pi_import.command import run

    return run(arguments, host)

"""Tools, resources and prompts of MCP servers.

Nothing is imported where no server is configured; the SDK is never imported by pi's own process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import Flag, Subcommand, hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import PiAPI

__all__ = ["activate", "pi_when", "register_flags", "register_subcommands"]

pi_when = {"files": ["mcp.json", "./.mcp.json"]}


@hookimpl
def activate(pi: PiAPI) -> None:
    """Connect the configured servers in sessions that have some."""
    from pi_mcp._session import Session

    Session(pi).listen()


@hookimpl
def register_flags() -> Sequence[Flag]:
    """Add ``--no-mcp``."""
    return [Flag(name="no-mcp", description="Use no MCP servers")]


@hookimpl
def register_subcommands() -> Sequence[Subcommand]:
    """Add ``pi mcp``."""
    return [Subcommand("mcp", run=_run, description="List, try and configure MCP servers")]


def _run(arguments: list[str], host: Any) -> int:
    from pi_mcp._cli import run_mcp

    return run_mcp(arguments, host)

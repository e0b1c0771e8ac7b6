"""Tools, resources and prompts of MCP servers.

Nothing is imported where no server is configured; the SDK is never imported by pi's own process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Flag, hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import PiAPI

__all__ = ["activate", "pi_when", "register_flags"]

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

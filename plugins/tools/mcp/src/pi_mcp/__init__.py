"""Tools, resources and prompts of MCP servers.

Without servers, only this module is imported; pi's own process never imports the SDK.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Flag, PermissionStore, PiAPI, PiContext, ProjectFile, Subcommand
    from pi_mcp.session import Session

__all__ = ["activate", "register_flags", "register_permissions", "register_project_files", "register_subcommands"]


@hookimpl
def activate(pi: PiAPI) -> None:
    """Start the client in sessions with servers, configured in a file or registered by a plugin at any time."""
    client: Session | None = None

    async def start(_event: object, ctx: PiContext) -> None:
        nonlocal client
        if client is None:
            if pi.get_flag("no-mcp") or not (pi.get_mcp_servers() or _is_configured(ctx)):
                return
            from pi_mcp.session import Session

            client = Session(pi)
            client.listen()
        await client.start(ctx)

    pi.on("session_start", start)
    pi.on("mcp_servers_change", start)


def _is_configured(ctx: PiContext) -> bool:
    files = (ctx.settings.agent_dir / "mcp.json", ctx.cwd / ".pi" / "mcp.json", ctx.cwd / ".mcp.json")
    return any(os.path.exists(each) for each in files)  # noqa: PTH110 - Path.exists raises on no permission


@hookimpl
def register_flags() -> Sequence[Flag]:
    """Add ``--no-mcp``."""
    from pi_hookspecs import Flag

    return [Flag(name="no-mcp", description="Use no MCP servers")]


@hookimpl
def register_permissions() -> Sequence[PermissionStore]:
    """Add the approved servers of projects."""
    from pi_mcp.approvals import ApprovedServers

    return [ApprovedServers()]


@hookimpl
def register_project_files() -> Sequence[ProjectFile]:
    """Name the file that lists servers."""
    from pi_hookspecs import ProjectFile

    return [ProjectFile(".mcp.json")]


@hookimpl
def register_subcommands() -> Sequence[Subcommand]:
    """Add ``pi mcp``."""
    from pi_hookspecs import Subcommand

    return [Subcommand("mcp", run=_run, description="List, try and configure MCP servers")]


def _run(arguments: list[str], host: Any) -> int:
    from pi_mcp.cli import run_mcp

    return run_mcp(arguments, host)

"""Files that need a plugin which is not installed by default, and how it is installed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pi_core.host.advice import adds

if TYPE_CHECKING:
    from pi_core.host.plugin_host import PluginHost

__all__ = ["missing_extras", "unused_server"]


_SERVERS = ".mcp.json"
"""The file of a project that lists MCP servers for all programs; the plugin that connects to them registers it."""


def unused_server(host: PluginHost, name: str) -> str:
    """Return why an MCP server that a plugin has registered is not used, and the remedy."""
    why = f"MCP server {name!r} is not used, because no plugin that is loaded connects to MCP servers"
    if installed := _plugin_reading(host):
        return f"{why}: the plugin {installed} is installed, but disabled, or could not be loaded"
    return f"{why}; {adds('McpServer')}"


def _plugin_reading(host: PluginHost) -> str | None:
    """Return the installed plugin whose own project file lists MCP servers."""
    for record in host.records.values():
        if _SERVERS in record.names("register_project_files"):
            return record.name
    return None


def missing_extras(host: PluginHost, cwd: str | Path) -> list[tuple[str, str]]:
    """Return what is configured for plugins that are not installed: a sentence without its full stop, and the remedy.

    The files of a project that the user does not trust are not used anyway, and so not named.

    Args:
        host: The plugins.
        cwd: The project's folder.
    """
    if _plugin_reading(host) is not None:
        return []
    trust, cwd = host.settings.trust_of(cwd), Path(cwd)
    files = [host.settings.agent_dir / "mcp.json"]
    if trust.is_trusted or not trust.decided:
        files += [cwd / ".pi" / "mcp.json", cwd / _SERVERS]
    found = [
        os.fspath(each.relative_to(cwd) if each.is_relative_to(cwd) else each)
        for each in files
        if os.path.isfile(each)  # noqa: PTH113 - Path.is_file raises on no permission
    ]
    if not found:
        return []
    message = f"No MCP server of {' and '.join(found)} is used, because no installed plugin connects to MCP servers"
    return [(message, adds("McpServer"))]

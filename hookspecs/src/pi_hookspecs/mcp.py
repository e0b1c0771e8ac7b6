"""MCP servers that plugins register; the client that connects to them is a plugin, too."""

from __future__ import annotations

from typing import Any

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.values import Value

__all__ = ["McpServer"]


@frozen(kw_only=True, eq=False, repr=False)
class McpServer(Value):
    """A registered MCP server.

    Attributes:
        name: Letters, digits, ``_`` and ``-``.
        config: Plain data, as an entry of ``mcpServers`` in ``mcp.json``: ``command``, ``args``, ``env``, or ``url``,
            ``headers``. Not part of the ``repr``: it may hold secrets.
        plugin: The plugin that registered it.
    """

    name: str
    config: dict[str, Any] = field(repr=False)
    plugin: str

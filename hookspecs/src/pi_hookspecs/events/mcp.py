"""Changes of the registered MCP servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from pi_hookspecs.mcp import McpServer

__all__ = ["McpServersChangeEvent"]


@frozen(kw_only=True, eq=False, repr=False)
class McpServersChangeEvent(ReprMixin):
    """The registered MCP servers have changed; ``servers`` are all that are registered now."""

    type: ClassVar[Literal["mcp_servers_change"]] = "mcp_servers_change"
    servers: tuple[McpServer, ...] = ()

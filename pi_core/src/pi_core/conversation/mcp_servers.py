"""The MCP servers that the plugins of one session registered; changes made together are reported once."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

from pi_hookspecs import McpServer, McpServersChangeEvent, PluginError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

__all__ = ["McpServers", "checked_server"]

_NAME = re.compile(r"[A-Za-z0-9_-]{1,128}")


def checked_server(plugin: str, name: Any, config: Any) -> McpServer:
    """Return a server with a copy of its configuration.

    Raises:
        PluginError: The name or the configuration is not valid. The message does not contain the configuration, which
            may hold secrets.
    """
    import orjson

    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise PluginError(plugin, f"MCP server {name!r}: a name is 1 to 128 letters, digits, '_' and '-'")
    try:
        plain = orjson.loads(orjson.dumps(dict(config)))
    except (TypeError, ValueError) as error:
        reason = "is not a mapping" if not hasattr(config, "keys") else f"cannot be written as JSON: {error}"
        raise PluginError(plugin, f"MCP server {name!r}: its configuration {reason}") from None
    return McpServer(name=name, config=plain, plugin=plugin)


class McpServers:
    """Keeps the servers. Of two servers with the same name, the one registered last is used.

    Args:
        notify: Calls ``mcp_servers_change``.
        started: Returns when all plugins of the session are activated.
        report_unused: Reports a server that no plugin connects to; does nothing if one does.
    """

    def __init__(
        self,
        notify: Callable[[McpServersChangeEvent], Awaitable[None]],
        started: Callable[[], Awaitable[None]],
        report_unused: Callable[[McpServer], None],
    ) -> None:
        self._notify = notify
        self._started = started
        self._report_unused = report_unused
        self._registered: list[McpServer] = []
        self._reported: tuple[McpServer, ...] = ()
        self._reporting: asyncio.Task[None] | None = None
        self._ended = False

    def all(self) -> tuple[McpServer, ...]:
        """Return the server in use for each name."""
        return tuple({server.name: server for server in self._registered}.values())

    def add(self, server: McpServer) -> Callable[[], None]:
        """Register a server; return a function that removes it."""
        self._registered.append(server)
        self._report_soon()

        def remove() -> None:
            self._registered = [each for each in self._registered if each is not server]
            self._report_soon()

        return remove

    def end(self) -> None:
        """Stop reporting changes, because the session ends."""
        self._ended = True
        if self._reporting is not None:
            self._reporting.cancel()

    def _report_soon(self) -> None:
        """Report the changes in a task, once the code that makes them has finished; registering does not wait."""
        if self._reporting is None and not self._ended:
            self._reporting = asyncio.get_running_loop().create_task(self._report())

    async def _report(self) -> None:
        self._reporting = None  # changes made while the plugins are called are reported again
        servers = self.all()
        if servers != self._reported:
            known, self._reported = self._reported, servers
            await self._notify(McpServersChangeEvent(servers=servers))
            await self._started()
            for each in servers:
                if each not in known:
                    self._report_unused(each)
